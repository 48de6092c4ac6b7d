"""Steps of one task in one process: without effect, and with a keyed effect, attempted and verified."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.bench_append import HEAD_AND_EVENT, _floor
from tests.bench.place import slices_here, task_new

STEPS, ROUNDS = 300, 5


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Measure both shapes in turn with the floor: so many statements of one commit each."""
    floor = _floor(HEAD_AND_EVENT)
    shapes = {"bench.reader": 1, "bench.writer": 2}
    speeds: dict[str, list[float]] = {agent: [] for agent in shapes}
    floors: list[float] = []
    commits: dict[str, float] = {}
    for _ in range(ROUNDS):
        started = time.perf_counter()
        floor(STEPS)
        floors.append(STEPS / (time.perf_counter() - started))
        for agent in shapes:
            speed, commits[agent] = _run(agent)
            speeds[agent].append(speed)
    for agent, per_step in shapes.items():
        ratios = [speed / (one / per_step) for speed, one in zip(speeds[agent], floors, strict=True)]
        yield {
            "figure": "step without effect" if per_step == 1 else "call with a keyed effect, attempted and verified",
            "unit": "steps/s",
            "value": round(statistics.median(speeds[agent])),
            "commits_a_step": round(commits[agent], 2),
            "floor": round(statistics.median(floors) / per_step),
            "floor_is": f"{per_step} one-statement commit(s)",
            "ratio": round(statistics.median(ratios), 2),
            "goal": "see peers" if per_step == 1 else "ratio >= 0.6; 2 commits in a chain",
        }


def _run(agent: str) -> tuple[float, float]:
    from tasks_app.models import Event, Task

    task = task_new(agent, steps=STEPS)
    with slices_here() as run:
        started = time.perf_counter()
        run(task.pk)
        took = time.perf_counter() - started
    done = Task.objects.get(pk=task.pk)
    assert done.status == "completed", done.status
    commits = Event.objects.filter(stream=task.pk).values("at").distinct().count()
    return STEPS / took, commits / STEPS
