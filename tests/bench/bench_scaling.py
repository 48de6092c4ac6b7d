"""Many tasks with keyed effects over one and over two worker processes."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import processes, task_new, wait_until

TASKS, STEPS = 24, 40


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Run the same load twice."""
    one, two = _load(folder, 1), _load(folder, 2)
    yield {
        "figure": "calls with a keyed effect, many tasks, two worker processes over one",
        "unit": "calls/s",
        "one": round(one),
        "two": round(two),
        "ratio": round(two / one, 2),
        "goal": "ratio >= 1.7",
    }


def _load(folder: Path, workers: int) -> float:
    from tasks_app.models import Task

    with processes(folder, workers=workers, concurrency=1):
        warm = task_new("bench.writer", steps=5)
        wait_until(lambda: Task.objects.get(pk=warm.pk).status == "completed")
        started = time.perf_counter()
        tasks = [task_new("bench.writer", steps=STEPS).pk for _ in range(TASKS)]
        wait_until(lambda: Task.objects.filter(pk__in=tasks, status="completed").count() == len(tasks), seconds=300)
        return TASKS * STEPS / (time.perf_counter() - started)
