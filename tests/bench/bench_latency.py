"""From the commit of ``task.created`` to the first event by a worker; database times."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import processes, spread, task_new, wait_until

TASKS = 100


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Create tasks one after the other on an idle worker and read both moments from the record."""
    from tasks_app.models import Event, Task

    with processes(folder, workers=1):
        taken = []
        for _ in range(TASKS):
            task = task_new("bench.reader", steps=1)
            wait_until(lambda task=task: Task.objects.get(pk=task.pk).status == "completed")
            times = dict(Event.objects.filter(stream=task.pk, seq__lte=2).values_list("kind", "at"))
            taken.append((times["slice.claimed"] - times["task.created"]).total_seconds() * 1000)
    yield {
        "figure": "created to first event by a worker",
        "unit": "ms",
        **spread(taken[5:], 2),
        "goal": "p50 <= 10, p95 <= 30",
    }
