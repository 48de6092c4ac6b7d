"""Sandboxes that wait: each is used for one call, only behind exactly its walls, and ends with its worker."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tasks_app.contracts import Limits
from tasks_app.fakes import context_of
from tasks_app.sandbox import bubblewrap, starting, stock
from tasks_app.sandbox.invoke import spec_of
from tasks_app.sandbox.levels import level_here
from tasks_app.sandbox.run import sandbox_run
from tasks_app.sandbox.spec import Frame, Spec
from tasks_app.sandbox.stock import IDLE, MOST, SLACK, Stock
from tests.processes import alive, wait_for
from tests.sandbox_tools import Try, box_keyed

Watched = list[tuple[int, float]]


@pytest.fixture
def watched() -> Watched:
    return []


@pytest.fixture
def kept(watched: Watched) -> Iterator[Stock]:
    made = Stock(1, lambda pid, until: watched.append((pid, until)))
    yield made
    made.close()


def spec(what: str = "answer", **frame) -> Spec:
    made = spec_of(box_keyed, "execute", (Try(what=what), context_of(key="k")))
    return replace(made, frame=replace(made.frame, **frame))


def filled(kept: Stock, frame: Frame) -> int:
    """Return the first process of the one that has waited longest behind these walls."""
    kind = (frame, level_here().name)
    kept.want(*kind)
    wait_for(lambda: kind in kept.kinds(), what="one that waits")
    return kept.waiting()[kept.kinds().index(kind)]


def run(kept: Stock, wanted: Spec) -> int:
    """Run it; return the process with which all of it ended."""
    pids: list[int] = []
    ended = sandbox_run(wanted, until=time.monotonic() + 20, told=pids.append, stock=kept)
    assert ended.how == "answered", ended
    return pids[0]


def test_one_that_waits_is_given_one_call_and_thrown_away(kept: Stock):
    wanted = spec()
    first = filled(kept, wanted.frame)
    assert run(kept, wanted) == first
    assert not alive(first)
    second = filled(kept, wanted.frame)
    assert second != first
    assert run(kept, wanted) == second
    assert kept.handed == 2


@pytest.mark.parametrize(
    "other",
    [
        {"limits": Limits(memory=500 * 1024 * 1024)},
        {"limits": Limits(cpu=1.0)},
        {"mounts": ("/usr/share",)},
        {"paths": ()},
        {"network": ("example.com:443",)},
    ],
    ids=["memory", "cpu", "mounts", "paths", "network"],
)
def test_other_walls_than_those_of_the_contract_are_never_handed_out(kept: Stock, other):
    wanted = spec()
    waits = filled(kept, replace(wanted.frame, **other))
    assert run(kept, wanted) != waits
    assert kept.handed == 0


def test_another_level_is_never_handed_out(kept: Stock):
    frame = spec().frame
    filled(kept, frame)
    assert kept.take(frame, "process") is None
    kept.want(frame, "process")
    wait_for(lambda: len(kept.waiting()) == 2, what="one of that level as well")


def test_where_none_waits_another_is_started_only_once_the_call_has_its_own(kept: Stock, watched: Watched):
    assert kept.take(spec().frame, level_here().name) is None
    kept.close()  # once it has done what it was asked for
    assert watched == []


def test_after_a_call_for_which_none_waited_there_is_one_for_the_next(kept: Stock):
    wanted = spec()
    run(kept, wanted)
    assert kept.handed == 0
    wait_for(lambda: kept.kinds() == [(wanted.frame, level_here().name)], what="one that waits")


@pytest.mark.parametrize(
    ("network", "loaded"), [((), []), (("example.com:443",), ["httpcore", "httpx"])], ids=["none", "some"]
)
def test_what_speaks_over_a_network_is_loaded_only_where_there_is_one(kept: Stock, network, loaded):
    wanted = spec("loaded", network=network)
    filled(kept, wanted.frame)
    ended = sandbox_run(wanted, until=time.monotonic() + 20, stock=kept)
    assert kept.handed == 1
    assert ended.reply["value"]["fields"]["value"] == loaded


def test_one_that_was_killed_while_it_waited_is_not_handed_out(kept: Stock):
    wanted = spec()
    waits = filled(kept, wanted.frame)
    os.kill(waits, signal.SIGKILL)
    wait_for(lambda: not alive(waits), what="its end")
    assert run(kept, wanted) != waits


def test_its_keeper_hears_of_each_and_until_when_it_may_wait(kept: Stock, watched: Watched):
    waits = filled(kept, spec().frame)
    ((pid, until),) = watched
    assert pid == waits
    assert 0 < until - time.monotonic() <= IDLE + SLACK


def test_those_that_wait_are_few_whatever_is_asked_for(kept: Stock):
    for size in range(MOST + 2):
        filled(kept, spec(limits=Limits(memory=(300 + size) * 1024 * 1024)).frame)
    wait_for(lambda: len(kept.waiting()) == MOST, what="the oldest to make room")


def test_one_that_waited_too_long_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stock, "IDLE", 0.5)
    kept = Stock(1, lambda pid, until: None)
    waits = filled(kept, spec().frame)
    wait_for(lambda: not alive(waits), seconds=10, what="its end")
    assert kept.waiting() == []
    kept.close()


def test_the_time_that_it_took_to_start_is_not_the_calls(kept: Stock):
    wanted = spec()
    filled(kept, wanted.frame)
    time.sleep(1.0)  # all that it loads meanwhile
    ended = sandbox_run(wanted, until=time.monotonic() + 20, stock=kept)
    cold = sandbox_run(wanted, until=time.monotonic() + 20)
    assert ended.usage.cpu < cold.usage.cpu


def test_no_stock_is_kept_where_none_is_wanted():
    assert stock.stock_here() is None  # this is no worker


def test_one_that_is_never_made_is_given_up_and_keeps_nobody_waiting(kept: Stock, monkeypatch: pytest.MonkeyPatch):
    """As where a machine is so busy, or so broken, that bubblewrap never says which process it has made."""
    monkeypatch.setattr(bubblewrap, "command_of", lambda *given: ["/bin/sleep", "60"])
    monkeypatch.setattr(starting, "START", 0.5)
    began = time.monotonic()
    ended = sandbox_run(spec(), until=began + 20)
    assert ended.how == "not started"
    assert "has not made its namespaces" in ended.detail
    kept.want(spec().frame, level_here().name)
    kept.close()
    assert time.monotonic() - began < 10.0
    assert kept.waiting() == []
