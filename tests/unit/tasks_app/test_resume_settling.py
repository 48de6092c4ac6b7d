"""The resume rules: doubts, read-backs and long work; and that the same facts decide the same everywhere."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tasks_app.resume import (
    POLLS,
    READ_BACKS,
    CallFacts,
    Do,
    after_failed_poll,
    after_read_back,
    after_refusal,
    decide,
)
from tasks_app.status import OPEN, CallState, EffectClass, Status
from tests.processes import ROOT
from tests.unit.tasks_app.resume_facts import ALL, NOW, at, facts, look


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
    program = "from tests.unit.tasks_app.test_resume_settling import decisions; print(decisions())"
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


def test_long_work_that_does_not_answer_is_asked_for_again_after_ever_longer_pauses() -> None:
    """E09."""
    moves = [after_failed_poll(facts(state=CallState.STARTED, look_ups=n), now=NOW) for n in range(POLLS)]
    assert [move.do for move in moves] == [Do.WAIT] * (POLLS - 1) + [Do.DOUBT]
    pauses = [(move.until - NOW).total_seconds() for move in moves if move.until]
    assert (pauses[:6], set(pauses[6:])) == ([2, 4, 8, 16, 32, 60], {60})
