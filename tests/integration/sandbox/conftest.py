import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks_app.contracts import Contract
from tasks_app.fakes import context_of
from tasks_app.runtime.acting import Outcome, call_act
from tasks_app.sandbox import stock
from tasks_app.sandbox.invoke import spec_of
from tasks_app.sandbox.levels import NAMESPACES, level_here
from tests.people import people  # noqa: F401 - a fixture
from tests.processes import descendants, wait_for
from tests.sandbox_tools import Try, box_keyed


@pytest.fixture(autouse=True)
def _walls() -> None:
    if level_here().name != NAMESPACES:
        pytest.skip(f"No walls here: {level_here().missing}")


@pytest.fixture(autouse=True)
def _long_leases(settings: Any) -> None:
    """Nobody renews the leases of slices that run in a test's own process, and a busy machine takes long."""
    settings.LEASE_SECONDS = 60.0


@pytest.fixture(params=["cold", "warm"])
def cold_and_warm(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test twice: in sandboxes that were started for their call, and in those that waited for one."""
    if request.param == "cold":
        yield
        return
    stock.stock_use(1, lambda pid, until: None)
    stock._stock = None
    try:
        yield
    finally:
        kept = stock.stock_here()
        assert kept is not None
        kept.close()
        stock.stock_use(0, lambda pid, until: None)
        stock._stock = None


def act(what: str, *, contract: Contract = box_keyed, seconds: float = 20.0, **more) -> Outcome:
    """Run one thing inside, as the executor does; where a stock is kept, in one that has waited."""
    kept = stock.stock_here()
    arguments = Try(what=what, **more)
    if kept is not None and contract.sandbox != "none":
        frame = spec_of(contract, "execute", (arguments, context_of(key="k"))).frame
        if not kept.waiting():
            kept.want(frame, level_here().name)
        wait_for(lambda: any(kind == (frame, level_here().name) for kind in kept.kinds()), what="one that waits")
    handed = kept.handed if kept else 0
    context = context_of(key="k", seconds=seconds)
    outcome = call_act(contract, arguments, context, epoch_holds=lambda: True, send_by=time.monotonic() + 5)
    assert kept is None or kept.handed == handed + 1
    return outcome


def inside() -> list[int]:
    """Return the processes of this process's sandboxes, without those that wait for a call."""
    kept = stock.stock_here()
    waiting = {pid for one in (kept._waiting if kept else ()) for pid in (one.running.process.pid, one.running.first)}
    found = []
    for pid in descendants(os.getpid()):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            above = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"handrail/child.py" in line and not {pid, above} & waiting:
            found.append(pid)
    return found


def said(what: str, **more):
    outcome = act(what, **more)
    assert outcome.outcome == "ok", outcome
    return outcome.result
