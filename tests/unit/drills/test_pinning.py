"""From a takeover of a real task to the case that makes it again: each kind of loss, each standing of a call."""

from dataclasses import replace
from typing import Any

import pytest

from chaos_app.drills.named import cell_named
from chaos_app.drills.names import Klass
from chaos_app.drills.pinning import SET_BACK, NotReproducible, Own, Pinned, pinned
from chaos_app.drills.script import Script
from chaos_app.drills.tally import facts_of

OWN = Own(path="mine.drill:target", name="mine", call="act", tool="t", holds=True)
BY_CHILD = {"seen": "process gone", "exit_status": "signal SIGKILL"}


def pin(script: Script, /, *, came_back: bool = False, own: tuple[Own, ...] = (), **lost: Any) -> Pinned:
    """Lose the worker of a script here, as it was seen, and pin that."""
    said = {"lost_epoch": 1, "worker": "w-1", "place": "act", "losses": 1, "counted": True, **(lost or BY_CHILD)}
    script.say("slice.lost", **said)
    (record,) = script.evidence().tasks
    return pinned(facts_of(record), len(script.events), came_back=came_back, own=own)


def attempted(klass: Klass = Klass.KEYED, **more: Any) -> Script:
    return Script(klass).claim().plan().attempt(**more)


@pytest.mark.parametrize(
    ("lost", "came_back", "fault"),
    [
        (BY_CHILD, False, "kill"),
        ({"seen": "process gone"}, False, "kill-worker"),  # nobody was left to say how it ended
        ({"seen": "lease ran out"}, False, "kill-both"),
        ({"seen": "lease ran out"}, True, "zombie"),
    ],
)
def test_a_killed_child_a_killed_worker_a_lost_lease_and_a_stopped_worker_are_told_apart(lost, came_back, fault):
    assert pin(attempted(), came_back=came_back, **lost).cell == f"E04.applied.keyed.{fault}"


@pytest.mark.parametrize(
    ("seen", "cell"),
    [
        ("killed at deadline", "L04.situation.E02-before_send.keyed.hang"),
        ("executor failed: KeyError", "E05.before.keyed.exception"),
        ("database away", "E05.before.keyed.connection-cut"),
        (SET_BACK, "C03.situation.E05-after.keyed.failover"),
    ],
)
def test_other_losses_have_their_own_faults(seen, cell):
    assert pin(attempted(), seen=seen).cell == cell


@pytest.mark.parametrize(
    ("script", "cell"),
    [
        (Script().claim(), "L03.after.keyed.kill"),
        (Script().claim().plan(), "D03.after.keyed.kill"),
        (attempted(Klass.OPAQUE), "E04.applied.opaque.kill"),
        (attempted(Klass.READABLE), "E04.applied.readable.kill"),
        (attempted(under_approval="a"), "E04.applied.keyed.kill.asked"),
        (attempted().ours("call.outcome", name="act", attempt=1, outcome="unknown"), "E06.after_receive.keyed.kill"),
        (attempted().ours("call.outcome", name="act", attempt=1, outcome="ok"), "E08.before.keyed.kill"),
        (attempted(Klass.OPAQUE).ours("call.outcome", name="act", attempt=1, outcome="ok"), "E05.after.opaque.kill"),
        (attempted(Klass.OPAQUE).hold(), "C02.before.opaque.kill"),
    ],
)
def test_the_case_stands_where_the_worker_stood(script, cell):
    assert pin(script).cell == cell
    assert cell_named(cell) is not None


def test_an_agent_of_ones_own_is_drilled_itself_where_it_has_a_target():
    found = pin(attempted(), own=(OWN,))
    assert (found.cell, found.target) == ("E04.applied.keyed.kill.mine", "mine.drill:target")
    assert "your own agent" in found.says
    made = cell_named(found.cell, own=["mine"])
    assert made is not None
    assert (made.id, made.workload, made.call) == (found.cell, "mine", "act")


def test_without_a_proxy_nobody_holds_its_request_so_it_dies_before_the_outcome_is_recorded():
    assert pin(attempted(), own=(replace(OWN, holds=False),)).cell == "E05.before.keyed.kill.mine"


def test_a_target_of_another_call_is_not_taken_for_this_one():
    found = pin(attempted(), own=(replace(OWN, call="other"),))
    assert (found.cell, found.target) == ("E04.applied.keyed.kill", "")
    assert "drills another call" in found.says


def test_a_tool_that_the_drill_does_not_have_is_named_with_what_is_played_in_its_place():
    said = pin(attempted()).says
    assert "makes the same promise as t; yours is not run" in said
    assert "PACKAGE.drill" in said


def test_an_agent_outside_that_sent_no_report_lost_no_worker():
    with pytest.raises(NotReproducible, match="the agent runs outside"):
        pin(attempted(), seen="no report from outside by the deadline")


def test_an_event_that_is_no_loss_is_refused():
    (record,) = attempted().evidence().tasks
    with pytest.raises(ValueError, match="Event 1 is no lost worker"):
        pinned(facts_of(record), 1)
