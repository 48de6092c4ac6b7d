"""Bytes that a step stores while the agent's state grows by 1 KB a step, at 10 and at 1,000 steps."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import slices_here, task_new


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Run a short and a long task and compare what a step of each left in the tables."""
    short, long = _bytes_a_step(10), _bytes_a_step(1000)
    yield {
        "figure": "bytes stored a step, state growing by 1 KB a step",
        "unit": "bytes",
        "at_10_steps": round(short),
        "at_1000_steps": round(long),
        "ratio": round(max(short, long) / min(short, long), 2),
        "goal": "ratio <= 1.2; <= 3072 bytes",
    }


def _bytes_a_step(steps: int) -> float:
    from django.db import connection

    task = task_new("bench.growing", steps=steps)
    with slices_here() as run:
        run(task.pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT coalesce(sum(pg_column_size(e.*)), 0) FROM tasks_app_event e WHERE stream = %s AND seq > 2)"
            " + (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM tasks_app_blob b WHERE stream = %s)",
            [task.pk, task.pk],
        )
        row = cursor.fetchone()
    return float(row[0]) / steps
