"""From a SIGKILL to the next epoch's first event: of a pool process, of a whole worker, of worker and keeper."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench.place import _start, spread, task_new, wait_until, worker_start

KILLS = 20
SLOW_KILLS = 4


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Kill while a call is at work; both moments are the database's."""
    kinds: list[tuple[str, Callable[[Any], None], int, str]] = [
        ("of a pool process", _kill_child, KILLS, "p50 <= 0.4, p95 <= 1.0"),
        ("of a whole worker", _kill_worker, KILLS, "p50 <= 0.4, p95 <= 1.0"),
        ("of worker and keeper together", _kill_both, SLOW_KILLS, "<= lease (4) + 1"),
    ]
    for name, kill, times, goal in kinds:
        with ExitStack() as stack:
            _start(stack, folder / "sweeper.log", "manage.py", "sweep")
            taken = [_one(stack, folder, kill, nth) for nth in range(times)]
        yield {"figure": f"SIGKILL {name} to the next epoch's first event", "unit": "s", **spread(taken), "goal": goal}


def _one(stack: ExitStack, folder: Path, kill: Callable[[Any], None], nth: int) -> float:
    from core.clock import database_now
    from tasks_app.models import Event, Worker

    with ExitStack() as mine:
        for side in ("a", "b"):
            worker_start(mine, folder, f"kill-{kill.__name__}-{nth}-{side}", concurrency=1)
        task = task_new("bench.slow", milliseconds=1500)
        attempted = wait_until(lambda: Event.objects.filter(stream=task.pk, kind="call.attempted").first())
        claim = Event.objects.get(stream=task.pk, kind="slice.claimed", epoch=attempted.epoch)
        worker = Worker.objects.filter(name__startswith=claim.data["worker"].split("@")[0]).latest("started_at")
        at = database_now()
        kill((claim.data["pid"], worker))
        found = wait_until(
            lambda: Event.objects.filter(stream=task.pk, kind="slice.claimed", epoch__gt=attempted.epoch).first()
        )
        wait_until(lambda: Event.objects.filter(stream=task.pk, kind="task.completed").exists())
    return (found.at - at).total_seconds()


def _kill_child(who: Any) -> None:
    os.kill(who[0], signal.SIGKILL)


def _kill_worker(who: Any) -> None:
    os.kill(who[1].pid, signal.SIGKILL)


def _kill_both(who: Any) -> None:
    os.kill(who[1].keeper_pid, signal.SIGKILL)
    os.kill(who[1].pid, signal.SIGKILL)
