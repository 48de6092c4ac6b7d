"""What a sandbox costs: the same function in a plain child process and between walls, and calls of a task with both."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import slices_here, task_new

ROUNDS, CALLS = 40, 30


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Start both in turn, so that whatever else the machine does meets both."""
    from tasks_app.sandbox import levels

    here = levels.level_here
    walled, plain = [], []
    try:
        for _ in range(ROUNDS):
            levels.level_here = here
            walled.append(_one())
            levels.level_here = _bare  # type: ignore[assignment]
            plain.append(_one())
    finally:
        levels.level_here = here
    over = [one - other for one, other in zip(walled, plain, strict=True)]
    yield {
        "figure": "sandbox, over the same function in a plain child process",
        "unit": "ms",
        "value": round(statistics.median(over), 1),
        "walled": round(statistics.median(walled), 1),
        "floor": round(statistics.median(plain), 1),
        "floor_is": "the same child, started without walls",
        "level": here().name,
        "goal": "<= 25",
    }
    speeds = {agent: _calls(agent) for agent in ("bench.reader", "bench.boxer")}
    yield {
        "figure": "calls without effect in a sandbox",
        "unit": "calls/s",
        "value": round(speeds["bench.boxer"], 1),
        "floor": round(speeds["bench.reader"], 1),
        "floor_is": "the same call in the worker itself",
        "goal": "published",
    }


def _bare() -> Any:
    from tasks_app.sandbox.levels import PROCESS, Level

    return Level(PROCESS)


def _one() -> float:
    """Return the milliseconds of one call."""
    from tasks_app.fakes import context_of
    from tasks_app.sandbox.invoke import spec_of
    from tasks_app.sandbox.run import sandbox_run
    from tests.bench.agents import Value, boxed

    spec = spec_of(boxed, "execute", (Value(value=1), context_of(key="k")))
    started = time.perf_counter()
    ended = sandbox_run(spec, until=time.monotonic() + 30)
    took = time.perf_counter() - started
    assert ended.how == "answered", ended
    return took * 1000


def _calls(agent: str) -> float:
    task = task_new(agent, steps=CALLS)
    with slices_here() as run:
        started = time.perf_counter()
        run(task.pk)
        return CALLS / (time.perf_counter() - started)
