"""The resume rules: what is looked up outside before anything else happens."""

from typing import Any

import pytest

from tasks_app.resume import LOOK_UPS, Do, decide
from tasks_app.status import CallState, Status
from tests.unit.tasks_app.resume_facts import NOW, at, facts, look


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN])
def test_a_readable_call_is_looked_up_no_sooner_than_deadline_and_lag(state: CallState) -> None:
    """E02, E03, L06: however certain the death, a request that was accepted may still take effect."""
    call = facts("readable", state=state, deadline=at(5), lag=3)
    assert (decide(call, NOW).do, decide(call, NOW).until) == (Do.WAIT, at(8))
    assert decide(call, at(7.9)).do == Do.WAIT
    assert decide(call, at(8)).do == Do.LOOK_UP


def test_a_readable_call_is_never_sent_before_it_was_looked_up() -> None:
    """E03."""
    assert decide(facts("readable"), NOW).do == Do.LOOK_UP


def test_a_look_up_that_could_not_tell_is_made_again_later_each_time() -> None:
    """E09."""
    untils = [look(facts("readable", look_ups=n), "cannot tell").until for n in range(LOOK_UPS - 1)]
    assert untils == sorted(untils)
    assert len(set(untils)) == len(untils)
    assert decide(facts("readable", next_look_at=at(2)), NOW).until == at(2)


def test_in_the_end_a_person_is_asked_when_look_ups_cannot_tell() -> None:
    """E09."""
    assert look(facts("readable", look_ups=LOOK_UPS - 1), "cannot tell").do == Do.DOUBT
    assert decide(facts("readable", look_ups=LOOK_UPS), NOW).do == Do.DOUBT


@pytest.mark.parametrize("effect_class", ["readable", "keyed"])
def test_what_is_found_under_our_key_is_adopted(effect_class: str) -> None:
    """E04."""
    assert (look(facts(effect_class), "found").do, look(facts(effect_class), "found").rule) == (Do.ADOPT, "E04")


def test_what_is_found_with_other_arguments_is_in_doubt() -> None:
    """E10."""
    move = look(facts("readable"), "found", matches=False)
    assert (move.do, move.rule) == (Do.DOUBT, "E10")


def test_what_is_absent_after_every_deadline_is_sent() -> None:
    """E02, E03."""
    assert look(facts("readable"), "absent").do == Do.SEND


@pytest.mark.parametrize("more", [{"look_first": True}, {"status": Status.CANCELLING}, {"attempts": 5}])
def test_what_is_absent_and_may_not_be_sent_again_is_refused_so_that_the_agent_decides(more: Any) -> None:
    """A05, R03, E06."""
    assert look(facts("readable", **more), "absent").do == Do.REFUSE


@pytest.mark.parametrize("more", [{"status": Status.PAUSED}, {"stopped": True}])
def test_what_is_absent_while_paused_or_stopped_holds_no_worker(more: Any) -> None:
    """O01: looked up once; looking again until somebody resumes it would tell nothing."""
    assert look(facts("readable", **more), "absent").do == Do.PARK
    after = facts("readable", state=CallState.UNKNOWN, maybe_applied=False, **more)
    assert decide(after, NOW).do == Do.PARK


def test_what_was_absent_is_looked_up_again_before_it_is_sent_after_the_pause() -> None:
    """E03."""
    assert decide(facts("readable", state=CallState.UNKNOWN, maybe_applied=False), NOW).do == Do.LOOK_UP


@pytest.mark.parametrize("status", [Status.PAUSED, Status.CANCELLING])
def test_look_ups_go_on_while_a_task_is_paused_or_cancelling(status: Status) -> None:
    """O01, R03."""
    assert decide(facts("readable", status=status), NOW).do == Do.LOOK_UP
