"""Agents that wait on a slow model in one worker process: how many at once, in how much memory."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench.place import task_new, wait_until, worker_start

AGENTS, SECONDS = 100, 10


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Start a hundred agents that each wait, and watch the worker's memory while all of them do."""
    from tasks_app.models import Task

    with ExitStack() as stack:
        worker = worker_start(stack, folder, "waiting", pool="threads", concurrency=AGENTS)
        started = time.monotonic()
        tasks = [task_new("bench.thinker", seconds=SECONDS).pk for _ in range(AGENTS)]
        running = Task.objects.filter(pk__in=tasks, status="running")
        wait_until(lambda: running.count() == AGENTS, seconds=SECONDS)
        memory = _memory(worker.pid)
        wait_until(lambda: not Task.objects.filter(pk__in=tasks).exclude(status="completed").exists(), seconds=120)
        took = time.monotonic() - started
    yield {
        "figure": "agents waiting on a model at once in one worker process",
        "unit": "agents",
        "value": AGENTS,
        "memory_mb": round(memory),
        "seconds": round(took, 1),
        "one_alone_seconds": SECONDS,
        "goal": ">= 100 at once, <= 400 MB",
    }


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
