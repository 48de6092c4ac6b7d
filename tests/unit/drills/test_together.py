"""A fault of a whole server is made once for all cases that wait for it, and again for those that come later."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from chaos_app.drills.barrier import Hold, Point
from chaos_app.drills.evidence import Mark
from chaos_app.drills.names import Stage
from chaos_app.drills.together import Together
from core.boundaries import Boundary, Position


def hold() -> Hold:
    return Hold(point=Point(boundary=Boundary.ATTEMPT, position=Position.BEFORE))


def test_who_waits_for_it_is_met_by_one_and_who_comes_later_by_another() -> None:
    together, made, lock = Together(), [], threading.Lock()

    def do(holds: Sequence[Hold]) -> Mark:
        with lock:
            made.append(len(holds))
        return Mark(stage=Stage.LANDED, at=float(len(made)))

    with ThreadPoolExecutor(3) as pool:
        first = [pool.submit(together.meet, hold(), do, lambda: None) for _ in range(3)]
        assert [one.result(10).at for one in first] == [1.0, 1.0, 1.0]
    assert together.meet(hold(), do, lambda: None).at == 2.0
    assert made == [3, 1]


def test_what_went_wrong_is_told_to_everybody_who_waited() -> None:
    together = Together()

    def do(holds: Sequence[Hold]) -> Mark:
        raise OSError("no server")

    with ThreadPoolExecutor(2) as pool:
        for one in [pool.submit(together.meet, hold(), do, lambda: None) for _ in range(2)]:
            with pytest.raises(OSError, match="no server"):
                one.result(10)


def test_where_the_first_one_breaks_while_it_waits_nobody_waits_for_ever() -> None:
    together, leads, joined, until = Together(), threading.Event(), threading.Event(), time.monotonic() + 10

    def do(holds: Sequence[Hold]) -> Mark:
        return Mark(stage=Stage.LANDED, at=1.0)

    def breaks() -> None:
        leads.set()
        if joined.is_set():
            raise OSError("no server")

    def waits() -> None:
        joined.set()
        if time.monotonic() > until:
            raise TimeoutError("it waits still")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(together.meet, hold(), do, breaks)
        assert leads.wait(10)
        other = pool.submit(together.meet, hold(), do, waits)
        for one in (first, other):
            with pytest.raises(OSError, match="no server"):
                one.result(20)
    assert together.meet(hold(), do, lambda: None).at == 1.0
