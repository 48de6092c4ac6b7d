"""Resuming a task with 100,000 events and a checkpoint at the end, beside one with 100 events."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import slices_here, task_new

FILL = """
INSERT INTO tasks_app_event (stream, seq, kind, data, actor, at, digest)
SELECT %s, n, 'call.outcome', '{"name": "old", "attempt": 1, "outcome": "ok"}', 'bench', now(), sha256('x')
FROM generate_series(2, %s) AS n
"""
ROUNDS = 15


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Time from the claim to the first event after it, for both lengths in turn."""
    times: dict[int, list[float]] = {100: [], 100_000: []}
    for _ in range(ROUNDS):
        for events in times:
            times[events].append(_resume(events))
    short, long = (statistics.median(times[events]) * 1000 for events in times)
    yield {
        "figure": "resume of a long task",
        "unit": "ms, claim to completion",
        "events_100": round(short, 2),
        "events_100000": round(long, 2),
        "ratio": round(long / short, 2),
        "goal": "ratio <= 1.5",
    }


def _resume(events: int) -> float:
    from django.db import connection

    from tasks_app.models import Task

    task = task_new("bench.reader", steps=1000)
    with connection.cursor() as cursor:
        cursor.execute(FILL, [task.pk, events])
    Task.objects.filter(pk=task.pk).update(
        head_seq=events, step=1000, checkpoint_step=1000, checkpoint_seq=events, state_seq=0
    )
    with slices_here() as run:
        started = time.perf_counter()
        run(task.pk)
        return time.perf_counter() - started
