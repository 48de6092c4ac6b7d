"""What a process is told at a place: it raises there, or believes another time, and says so first."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from chaos_app.drills.barrier import Barrier, Hold, Point
from chaos_app.injector.handler import Asker, RaisedByDrill
from chaos_app.injector.report import CLOCK, RAISE
from core.boundaries import Boundary, Crossing, Position

HERE = Point(boundary=Boundary.SEND, position=Position.BEFORE_SEND)


def crossing(task: UUID) -> Crossing:
    return Crossing(boundary=HERE.boundary, position=HERE.position, task=task)


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    with tempfile.TemporaryDirectory() as folder:
        made = Barrier(Path(folder) / "barrier", case_of=lambda task: "c1")
        yield made
        made.close()


def armed(barrier: Barrier, answer: bytes) -> Hold:
    hold = barrier.arm(barrier.post("c1"), HERE)
    hold.answer = answer
    hold.go.set()
    return hold


def test_a_process_that_is_told_to_raise_says_so_and_raises(barrier: Barrier) -> None:
    hold = armed(barrier, RAISE)
    with pytest.raises(RaisedByDrill, match="E02"):
        Asker(str(barrier.path))(crossing(uuid4()))
    assert hold.confirmed.is_set()


def test_a_wrong_clock_is_told_and_is_right_again_with_the_next_task(barrier: Barrier) -> None:
    hold, asker, task = armed(barrier, CLOCK + b"7200\n"), Asker(str(barrier.path)), uuid4()
    right = time.monotonic
    before = time.time()
    asker(crossing(task))
    assert hold.confirmation is not None
    assert hold.confirmation.clock - before > 7000
    assert time.time() - before > 7000
    assert time.monotonic is right
    asker(crossing(task))
    assert time.time() - before > 7000
    asker(crossing(uuid4()))
    assert time.time() - before < 60


def test_a_confirmation_is_no_passage_of_its_own(barrier: Barrier) -> None:
    armed(barrier, CLOCK + b"1\n")
    post = barrier._posts["c1"]
    asker = Asker(str(barrier.path))
    asker(crossing(uuid4()))
    assert len(post.crossed) == 1
    asker(crossing(uuid4()))
    assert len(post.crossed) == 2
