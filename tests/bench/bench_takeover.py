"""From a SIGKILL to the next epoch's first event: of a pool process, of a whole worker, of worker and keeper.

Two workers stand all the time; the one that was killed is started again before the next kill. Each kind of kill has its
share of seconds: on a slow machine there are fewer kills, and ``n`` says how many.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench.place import _start, spread, task_new, wait_until, worker_start

KILLS = 20
SLOW_KILLS = 4
CALL = 1000  # milliseconds that a call takes, so that the kill comes while it is at work
GOAL = "p50 <= 0.4, p95 <= 1.0"


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Kill while a call is at work; both moments are the database's."""
    kinds: list[tuple[str, Callable[[Any], None], int, float, str]] = [
        ("of a pool process", _kill_child, KILLS, 20, GOAL),
        ("of a whole worker", _kill_worker, KILLS, 40, GOAL),
        ("of worker and keeper together", _kill_both, SLOW_KILLS, 20, "<= lease (4) + 1"),
    ]
    with ExitStack() as stack:
        _start(stack, folder / "sweeper.log", "manage.py", "sweep")
        crew = Crew(stack, folder)
        crew.fill()
        for name, kill, times, seconds, goal in kinds:
            taken = _some(crew, kill, times, seconds)
            what = f"SIGKILL {name} to the next epoch's first event"
            yield {"figure": what, "unit": "s", **spread(taken), "goal": goal}


class Crew:
    """Two workers of one slice each."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder, self._begun = stack, folder, 0
        self._running: list[Any] = []

    def fill(self) -> None:
        """Start what is missing, and wait until both take work."""
        self._running = [process for process in self._running if process.poll() is None]
        while len(self._running) < 2:
            self._begun += 1
            self._running.append(worker_start(self._stack, self._folder, f"kill-{self._begun}", concurrency=1))


def _some(crew: Crew, kill: Callable[[Any], None], times: int, seconds: float) -> list[float]:
    """Kill that often, at least once, and no more when the seconds are over."""
    until, taken = time.monotonic() + seconds, list[float]()
    while len(taken) < times and (not taken or time.monotonic() < until):
        crew.fill()
        taken.append(_one(kill))
    return taken


def _one(kill: Callable[[Any], None]) -> float:
    from core.clock import database_now
    from tasks_app.models import Event, Worker

    task = task_new("bench.slow", milliseconds=CALL)
    attempted = wait_until(lambda: Event.objects.filter(stream=task.pk, kind="call.attempted").first())
    claim = Event.objects.get(stream=task.pk, kind="slice.claimed", epoch=attempted.epoch)
    worker = Worker.objects.filter(name=claim.data["worker"]).latest("started_at")
    at = database_now()
    kill((claim.data["pid"], worker))
    later = Event.objects.filter(stream=task.pk, kind="slice.claimed", epoch__gt=attempted.epoch)
    found = wait_until(lambda: later.first(), seconds=20)
    wait_until(lambda: Event.objects.filter(stream=task.pk, kind="task.completed").exists(), seconds=20)
    return float((found.at - at).total_seconds())


def _kill_child(who: Any) -> None:
    os.kill(who[0], signal.SIGKILL)


def _kill_worker(who: Any) -> None:
    os.kill(who[1].pid, signal.SIGKILL)


def _kill_both(who: Any) -> None:
    os.kill(who[1].keeper_pid, signal.SIGKILL)
    os.kill(who[1].pid, signal.SIGKILL)
