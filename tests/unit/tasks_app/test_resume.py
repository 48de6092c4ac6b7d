"""The resume rules: for each row of the boundary table that they decide, what must happen to an open call."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tasks_app.resume import (
    LOOK_UPS,
    READ_BACKS,
    CallFacts,
    Do,
    Move,
    after_look_up,
    after_read_back,
    after_refusal,
    decide,
)
from tasks_app.status import OPEN, CallState, EffectClass, Status
from tests.processes import ROOT

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ALL = list(EffectClass)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def facts(effect_class: EffectClass | str = EffectClass.KEYED, **more: Any) -> CallFacts:
    """An attempt of 20 s ago, whose deadline was 8 s ago; lag 1 s, timeout 10 s."""
    base: dict[str, Any] = {
        "state": CallState.ATTEMPTED,
        "status": Status.RUNNING,
        "attempts": 1,
        "first_attempt_at": at(-20),
        "deadline": at(-8),
        "has_find": effect_class == EffectClass.READABLE,
        "maybe_applied": True,
    }
    return CallFacts(effect_class=EffectClass(effect_class), **{**base, **more})


def look(call: CallFacts, answer: str, *, matches: bool = True) -> Move:
    return after_look_up(call, answer=answer, matches=matches, now=NOW)


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


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN])
@pytest.mark.parametrize("seconds", [-30, 0, 3600])
def test_an_opaque_call_is_never_sent_again_by_itself(state: CallState, seconds: float) -> None:
    """E02 to E06, case-01: kill-2 and kill-3 look the same."""
    assert decide(facts("opaque", state=state), at(seconds)).do == Do.DOUBT


@pytest.mark.parametrize("effect_class", ["keyed", "readable", "opaque"])
@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN, CallState.STARTED])
def test_an_attempted_call_whose_contract_is_gone_is_in_doubt(effect_class: str, state: CallState) -> None:
    """E03: sent, looked up and verified only by code that carries its contract version."""
    assert decide(facts(effect_class, state=state, carried=False), NOW).do == Do.DOUBT


def test_what_a_person_must_settle_waits_for_that_person() -> None:
    """E03."""
    assert decide(facts("opaque", state=CallState.IN_DOUBT), NOW).do == Do.PARK


@pytest.mark.parametrize("effect_class", ALL)
@pytest.mark.parametrize("status", [Status.RUNNING, Status.PAUSED, Status.CANCELLING])
def test_an_answer_is_verified_and_never_sent_again(effect_class: EffectClass, status: Status) -> None:
    """E08, also while paused or cancelling."""
    move = decide(facts(effect_class, state=CallState.OK, status=status, has_read_back=True), NOW)
    assert (move.do, move.rule) == (Do.READ_BACK, "E08")


def test_an_answer_that_cannot_be_read_back_yet_is_waited_for() -> None:
    """E08, E09."""
    call = facts(state=CallState.OK, has_read_back=True, next_look_at=at(1))
    assert (decide(call, NOW).do, decide(call, NOW).until) == (Do.WAIT, at(1))


def test_an_answer_whose_read_back_is_gone_is_in_doubt() -> None:
    """E08."""
    assert decide(facts(state=CallState.OK, has_read_back=True, carried=False), NOW).do == Do.DOUBT


def test_what_is_read_back_as_intended_is_verified() -> None:
    """E08."""
    assert after_read_back(facts(), matches=True, cannot_tell=False, now=NOW).do == Do.VERIFY


def test_a_world_that_contradicts_the_answer_is_in_doubt_and_never_mended_silently() -> None:
    """E10."""
    move = after_read_back(facts(), matches=False, cannot_tell=False, now=NOW)
    assert (move.do, move.rule) == (Do.DOUBT, "E10")


def test_a_read_back_that_cannot_tell_is_made_again_and_then_a_person_is_asked() -> None:
    """E09."""
    again = after_read_back(facts(look_ups=0), matches=False, cannot_tell=True, now=NOW)
    assert (again.do, again.rule) == (Do.WAIT, "E09")
    assert again.until is not None
    assert again.until > NOW
    last = after_read_back(facts(look_ups=READ_BACKS - 1), matches=False, cannot_tell=True, now=NOW)
    assert last.do == Do.DOUBT


def test_long_work_is_asked_about_no_sooner_than_it_said() -> None:
    """E03 for start and poll."""
    call = facts(state=CallState.STARTED, next_look_at=at(4))
    assert (decide(call, NOW).do, decide(call, NOW).until) == (Do.WAIT, at(4))
    assert decide(call, at(4)).do == Do.POLL


def test_a_call_is_refused_only_if_no_attempt_may_have_acted() -> None:
    """E06: one unknown attempt keeps it unknown."""
    assert after_refusal(maybe_applied=False).do == Do.REFUSE
    assert after_refusal(maybe_applied=True).do == Do.WAIT


def test_a_settled_call_is_nobodys_question() -> None:
    with pytest.raises(ValueError, match="not an open state"):
        decide(facts(state=CallState.VERIFIED), NOW)


def stored() -> list[CallFacts]:
    """A spread of facts as the record would give them."""
    states = sorted(OPEN)
    base = [facts(c, state=s, has_find=f) for c in ALL for s in states for f in (False, True)]
    return base + [replace(one, status=status) for one in base for status in (Status.PAUSED, Status.CANCELLING)]


def decisions() -> str:
    """Every rule on those facts, as one text."""
    said = [[m.do, m.rule, m.reason, str(m.until)] for m in (decide(one, NOW) for one in stored())]
    said += [
        [m.do, m.rule, m.reason, str(m.until)]
        for one in stored()
        for m in (look(one, answer) for answer in ("found", "absent", "cannot tell"))
    ]
    return json.dumps(said)


def test_five_fresh_processes_decide_the_same_on_the_same_facts() -> None:
    """S12."""
    program = "from tests.unit.tasks_app.test_resume import decisions; print(decisions())"
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": str(seed), "TZ": "UTC" if seed % 2 else "Asia/Kathmandu"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in (1, 7, 42, 1000, 31_337)
    }
    assert answers == {decisions()}
