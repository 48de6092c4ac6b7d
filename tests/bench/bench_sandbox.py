"""What a sandbox costs: the same function in a plain child process and between walls, and calls of a task with both.

A worker's process keeps one sandbox started; where calls come faster than it can start another, they wait for that.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.place import slices_here, task_new, wait_until

ROUNDS, CALLS = 30, 30
QUIET = 0.1  # seconds without any work after which one that waits is believed to have loaded all


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Start each in turn, so that whatever else the machine does meets all of them."""
    from tasks_app.sandbox import levels
    from tasks_app.sandbox.stock import Stock

    here = levels.level_here
    kept = Stock(1, lambda pid, until: None)
    times: dict[str, list[float]] = {"waited": [], "cold": [], "plain": []}
    try:
        for _ in range(ROUNDS):
            times["waited"].append(_waited(kept))
            _quiet(kept)  # or the next one that is kept would load beside it
            times["cold"].append(_one())
            levels.level_here = _bare  # type: ignore[assignment]
            times["plain"].append(_one())
            levels.level_here = here
    finally:
        levels.level_here = here
        kept.close()
    yield _over("waited", times, "sandbox that waited, over the same function in a plain child process", "<= 25")
    yield _over("cold", times, "sandbox started for its call, over the same in a plain child process", "<= 25")
    with _stocked():
        waited = _calls("bench.boxer")
    yield {
        "figure": "calls without effect in a sandbox",
        "unit": "calls/s",
        "value": round(waited, 1),
        "cold": round(_calls("bench.boxer"), 1),
        "floor": round(_calls("bench.reader"), 1),
        "floor_is": "the same call in the worker itself",
        "level": here().name,
        "goal": "published",
    }


def _over(kind: str, times: dict[str, list[float]], figure: str, goal: str) -> dict[str, Any]:
    over = [one - other for one, other in zip(times[kind], times["plain"], strict=True)]
    return {
        "figure": figure,
        "unit": "ms",
        "value": round(statistics.median(over), 1),
        "walled": round(statistics.median(times[kind]), 1),
        "floor": round(statistics.median(times["plain"]), 1),
        "floor_is": "the same child, started without walls",
        "goal": goal,
    }


def _bare() -> Any:
    from tasks_app.sandbox.levels import PROCESS, Level

    return Level(PROCESS)


def _waited(kept: Any) -> float:
    """Return the milliseconds of one call in a sandbox that has waited for it."""
    from tasks_app.sandbox.levels import level_here

    kept.want(_spec().frame, level_here().name)
    _quiet(kept)
    return _one(kept)


def _quiet(kept: Any) -> None:
    """Wait until one waits, and has loaded all."""
    from tasks_app.sandbox.used import used_by

    (first,) = wait_until(kept.waiting)
    before = -1.0
    while (now := used_by(first)[0]) != before:
        before = now
        time.sleep(QUIET)


def _spec() -> Any:
    from tasks_app.fakes import context_of
    from tasks_app.sandbox.invoke import spec_of
    from tests.bench.agents import Value, boxed

    return spec_of(boxed, "execute", (Value(value=1), context_of(key="k")))


def _one(kept: Any = None) -> float:
    """Return the milliseconds of one call."""
    from tasks_app.sandbox.run import sandbox_run

    spec = _spec()
    started = time.perf_counter()
    ended = sandbox_run(spec, until=time.monotonic() + 30, stock=kept)
    took = time.perf_counter() - started
    assert ended.how == "answered", ended
    return took * 1000


@contextmanager
def _stocked() -> Iterator[None]:
    """Let this process keep a stock, as a worker's do."""
    from tasks_app.sandbox import stock

    stock.stock_use(1, lambda pid, until: None)
    stock._stock = None
    try:
        yield
    finally:
        kept = stock.stock_here()
        if kept is not None:
            kept.close()
        stock.stock_use(0, lambda pid, until: None)
        stock._stock = None


def _calls(agent: str) -> float:
    task = task_new(agent, steps=CALLS)
    with slices_here() as run:
        started = time.perf_counter()
        run(task.pk)
        return CALLS / (time.perf_counter() - started)
