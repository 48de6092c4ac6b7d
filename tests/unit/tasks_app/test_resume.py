"""The resume rules: what was not attempted, and what may be sent again without a look outside."""

from typing import Any

import pytest

from tasks_app.resume import Do, decide
from tasks_app.status import CallState, EffectClass, Status
from tests.unit.tasks_app.resume_facts import ALL, NOW, at, facts


@pytest.mark.parametrize("effect_class", ALL)
def test_what_is_only_intended_is_sent_as_it_was_recorded(effect_class: EffectClass) -> None:
    """D03."""
    move = decide(facts(effect_class, state=CallState.INTENDED, attempts=0, first_attempt_at=None, deadline=None), NOW)
    assert (move.do, move.rule) == (Do.SEND, "D03")


def test_what_a_person_must_decide_holds_no_worker() -> None:
    """A01."""
    assert decide(facts(state=CallState.ASKED, attempts=0), NOW).do == Do.PARK


@pytest.mark.parametrize("effect_class", ALL)
def test_an_approved_call_is_due_work_for_any_worker(effect_class: EffectClass) -> None:
    """A03."""
    move = decide(facts(effect_class, state=CallState.APPROVED, attempts=0), NOW)
    assert (move.do, move.rule) == (Do.SEND, "A03")


@pytest.mark.parametrize("state", [CallState.INTENDED, CallState.APPROVED])
@pytest.mark.parametrize("holding", [{"status": Status.PAUSED}, {"status": Status.CANCELLING}, {"stopped": True}])
def test_nothing_starts_while_the_task_is_paused_cancelled_or_stopped(state: CallState, holding: Any) -> None:
    """A05, R03: an effect after a cancel only from an attempt committed before it."""
    assert decide(facts(state=state, attempts=0, **holding), NOW).do == Do.PARK


@pytest.mark.parametrize("state", [CallState.INTENDED, CallState.APPROVED])
def test_what_was_never_attempted_is_void_once_nobody_carries_its_contract(state: CallState) -> None:
    """D03, A05."""
    assert decide(facts(state=state, attempts=0, carried=False), NOW).do == Do.VOID


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN])
def test_a_call_without_effect_is_run_again(state: CallState) -> None:
    """E02 to E06 for the class none."""
    assert decide(facts("none", state=state), NOW).do == Do.SEND


def test_a_call_without_effect_is_not_tried_again_at_once() -> None:
    """E06: an outside that is down is not asked as fast as we can."""
    move = decide(facts("none", state=CallState.UNKNOWN, next_look_at=at(2)), NOW)
    assert (move.do, move.until) == (Do.WAIT, at(2))


def test_a_call_without_effect_needs_no_person_when_its_contract_is_gone() -> None:
    """D03."""
    assert decide(facts("none", state=CallState.UNKNOWN, carried=False), NOW).do == Do.VOID


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN])
def test_a_keyed_call_is_sent_again_under_its_key(state: CallState) -> None:
    """E02, E03, E04, E05, E06: no wait is needed, the provider acts at most once per key."""
    assert decide(facts(state=state, deadline=at(30)), NOW).do == Do.SEND


def test_a_key_in_use_is_waited_for_and_sent_again() -> None:
    """E06: the provider's 409 is unknown, not refused."""
    call = facts(state=CallState.UNKNOWN, next_look_at=at(1))
    assert (decide(call, NOW).do, decide(call, NOW).until) == (Do.WAIT, at(1))
    assert decide(call, at(1)).do == Do.SEND


@pytest.mark.parametrize(("has_find", "does"), [(True, Do.LOOK_UP), (False, Do.DOUBT)])
def test_after_the_retention_of_the_key_nothing_is_sent_on_its_strength(has_find: bool, does: Do) -> None:
    """E04, case-04: memory of 24 h, resumed 30 h later."""
    call = facts(first_attempt_at=at(-30 * 3600), deadline=at(-29 * 3600), retention=86_400, has_find=has_find)
    assert decide(call, NOW).do == does


def test_the_retention_must_outlast_the_whole_resend() -> None:
    """E04: an answer that comes after timeout + lag must still meet a provider that remembers."""
    first = at(-89)
    call = facts(first_attempt_at=first, deadline=at(-80), retention=100, timeout=10, lag=1)
    assert decide(call, NOW).do == Do.DOUBT
    assert decide(call, at(-1)).do == Do.SEND


def test_a_keyed_call_without_look_up_stops_for_a_person_after_its_attempts() -> None:
    """E06."""
    assert decide(facts(attempts=5, most_attempts=5), NOW).do == Do.DOUBT
    assert decide(facts(attempts=4, most_attempts=5), NOW).do == Do.SEND


def test_a_keyed_call_with_a_look_up_is_looked_up_after_its_attempts() -> None:
    """E06."""
    assert decide(facts(attempts=5, most_attempts=5, has_find=True), NOW).do == Do.LOOK_UP


def test_a_keyed_call_waits_for_its_resend_while_the_task_is_paused() -> None:
    """O01, R03."""
    assert decide(facts(status=Status.PAUSED), NOW).do == Do.PARK
    assert decide(facts(stopped=True), NOW).do == Do.PARK


@pytest.mark.parametrize(("has_find", "does"), [(True, Do.LOOK_UP), (False, Do.DOUBT)])
def test_a_keyed_call_of_a_cancelling_task_is_settled_without_sending(has_find: bool, does: Do) -> None:
    """R03: a resend after a cancel is refused."""
    assert decide(facts(status=Status.CANCELLING, has_find=has_find), NOW).do == does


@pytest.mark.parametrize(("has_find", "does"), [(True, Do.LOOK_UP), (False, Do.DOUBT)])
def test_a_keyed_call_whose_resend_was_refused_is_not_sent(has_find: bool, does: Do) -> None:
    """A05: T1 refused the resend."""
    assert decide(facts(state=CallState.UNKNOWN, look_first=True, has_find=has_find), NOW).do == does


def test_what_an_agent_outside_may_begin_is_withdrawn_once_its_time_is_over() -> None:
    """D03: nobody was asked, and nobody here sends it."""
    call = facts("opaque", state=CallState.INTENDED, attempts=0, external=True, use_by=at(2))
    assert (decide(call, NOW).do, decide(call, NOW).until) == (Do.WAIT, at(2))
    assert decide(call, at(2)).do == Do.WITHDRAW


def test_a_call_without_effect_whose_next_try_was_refused_is_withdrawn() -> None:
    """A05: T1 refused it, and would again; there is nothing to look for."""
    assert decide(facts("none", state=CallState.UNKNOWN, look_first=True), NOW).do == Do.WITHDRAW
