"""Live workers on a machine whose every core is busy: how many of them are taken for dead (goal: none).

HANDRAIL_BENCH_CALM: how many seconds (120; the goal speaks of 3600).
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.bench.place import processes, task_new, wait_until

SECONDS = 120.0
AT_ONCE = 8
CALL = 1500  # milliseconds, most of a lease


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Keep a few tasks at work, each in a slow call, while twice as many processes as cores count."""
    from tasks_app.models import Event

    seconds = float(os.environ.get("HANDRAIL_BENCH_CALM", SECONDS))
    tasks: list[UUID] = []
    with processes(folder, workers=2, concurrency=2), _busy(2 * (os.cpu_count() or 1)):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            tasks += _batch()
    claims = Event.objects.filter(stream__in=tasks, kind="slice.claimed").count()
    lost = Event.objects.filter(stream__in=tasks, kind="slice.lost").count()
    yield {
        "figure": "live workers taken for dead, every core busy",
        "unit": "takeovers",
        "seconds": seconds,
        "slices": claims,
        "taken": lost,
        "goal": "0 in an hour",
    }


def _batch() -> list[UUID]:
    from tasks_app.models import Task

    tasks = [task_new("bench.slow", milliseconds=CALL).pk for _ in range(AT_ONCE)]
    wait_until(lambda: Task.objects.filter(pk__in=tasks, status="completed").count() == AT_ONCE, seconds=120)
    return tasks


@contextmanager
def _busy(count: int) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", "while True: sum(range(100000))"])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield
