"""What counts as the end of a process that hangs."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from chaos_app.drills.barrier import Hold, Point, Post
from chaos_app.drills.catalogue import BY_NAME
from chaos_app.drills.cells import Cell
from chaos_app.drills.losing import Hang
from chaos_app.drills.names import Fault, Klass, Stage
from chaos_app.drills.strike import NotLandedError
from chaos_app.drills.watch import Seen
from chaos_app.injector.report import Report
from core.boundaries import Boundary, Position

TASK = UUID(int=7)
PLACE: dict[str, Any] = {"boundary": Boundary.DECIDE, "position": Position.BEFORE}
FORM: dict[str, Any] = {"position": "situation", "klass": Klass.KEYED, "fault": Fault.HANG, "workload": "act"}
CELL = Cell(row="L04", place=("D02", "before"), **FORM)
NOTHING: dict[str, Any] = dict.fromkeys(("lease_nonce", "wake_at", "wait", "open_wait", "parent_id"))
NEXT = Seen(id=TASK, case="c", status="running", head_seq=9, lease_epoch=2, signals=[], late=0, **NOTHING)


class NextHolds:
    """A look at a task that the next worker has taken."""

    def of(self, case: str) -> list[Seen]:
        return [NEXT]


@pytest.fixture
def pid() -> Iterator[int]:
    """Return a process that does nothing, and that nobody ends."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def hanging(pid: int, cell: Cell) -> Hang:
    """Return a case whose process hangs, with its task in the hands of the next worker."""
    ground: Any = SimpleNamespace(
        barrier=SimpleNamespace(post=lambda name, begun: Post(name=name)), workers=[], own=None
    )
    watch: Any = NextHolds()
    case = Hang(ground=ground, watch=watch, workload=BY_NAME["act"], klass=Klass.KEYED, cell=cell)
    case.hold, case.until = Hold(point=Point(**PLACE)), time.monotonic() + 0.5
    case.hold.report = Report(task=TASK, call=None, epoch=1, pid=pid, parent=1, **PLACE)
    case.hold.reached.set()
    return case


def test_where_its_keeper_must_end_it_another_lease_proves_nothing(pid: int) -> None:
    with pytest.raises(NotLandedError, match="Nothing ended"):
        hanging(pid, CELL).strike()


def test_elsewhere_the_task_may_go_on_beside_it(pid: int) -> None:
    case = hanging(pid, replace(CELL, row="L01"))
    case.strike()
    assert case.marks[0][-1].stage == Stage.LANDED
