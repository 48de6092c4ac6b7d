"""Each invariant finds the record, or the outside, in which it is broken; a good run breaks none."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tasks_app.record.invariants import Case, Effect, violations
from tasks_app.record.reducing_calls import Fact
from tests.unit.record.test_reducer import START, Story


def good() -> list[Fact]:
    """An approved call that is attempted, taken over, found, verified; then the task completes."""
    story = Story().claim()
    story.say("step.decided", epoch=1, step=1, does="call", names=["pay"])
    story.call(effect_class="readable", policy={"outcome": "ask"})
    story.facts[-1].data["arguments"] = {"cents": 1}
    story.say("approval.requested", epoch=1, approval="a1", name="pay", digest="d")
    story.say("approval.decided", approval="a1", name="pay", digest="d", decision="approved", by="silas")
    story.say("approval.consumed", epoch=1, approval="a1", name="pay", digest="d").attempt()
    story.facts[-1] = replace(story.facts[-1], at=story.facts[-2].at)  # one append
    story.say("slice.lost", lost_epoch=1, worker="w", seen="gone", place="pay", losses=1, counted=True).claim(2)
    story.say("call.observed", epoch=2, name="pay", look_up=1, answer="found", move="adopt", reference="r")
    story.say("call.verified", epoch=2, name="pay").say("checkpoint.advanced", epoch=2, step=1)
    story.say("step.decided", epoch=2, step=2, does="complete")
    story.say("task.claimed_complete", epoch=2, summary="", claims=[])
    story.say("evidence.observed", epoch=2, criterion="call pay", holds=True)
    story.say("task.completed", epoch=2, criteria=1).release("finished")
    story.facts[-2] = replace(story.facts[-2], at=story.facts[-3].at)
    return story.facts


EFFECT = Effect(key="k-pay", arguments={"cents": 1}, at=START + timedelta(seconds=30), business_key="b")


def broken(facts: list[Fact], ledger: list[Effect]) -> set[str]:
    return {one.invariant for one in violations(Case(facts=facts, ledger=ledger))}


def changed(kind: str, nth: int = 0, **more: Any) -> list[Fact]:
    """The good record with one event changed."""
    facts = more.pop("facts", None) or good()
    at = [place for place, fact in enumerate(facts) if fact.kind == kind][nth]
    fields = {name: more.pop(name) for name in ("epoch", "at") if name in more}
    facts[at] = replace(facts[at], data=facts[at].data | more, **fields)
    return facts


def without(kind: str) -> list[Fact]:
    return [replace(f, seq=at) for at, f in enumerate((f for f in good() if f.kind != kind), start=1)]


def with_more(kind: str, *, after: str, **more: Any) -> list[Fact]:
    """The good record with one of its events once more, after another."""
    facts = good()
    again = next(fact for fact in facts if fact.kind == kind)
    at = max(place for place, fact in enumerate(facts) if fact.kind == after)
    facts.insert(at + 1, replace(again, data=again.data | more))
    return [replace(f, seq=seq) for seq, f in enumerate(facts, start=1)]


def test_a_good_run_breaks_none() -> None:
    assert violations(Case(facts=good(), ledger=[EFFECT])) == []


MUTANTS: dict[str, tuple[str, list[Fact], list[Effect]]] = {
    "the effect is there twice": ("S1", good(), [EFFECT, EFFECT]),
    "the same act by two calls": ("S1", good(), [EFFECT, replace(EFFECT, key="k-other")]),
    "an effect without an attempt": ("S2", good(), [EFFECT, replace(EFFECT, key="k-unknown", business_key=None)]),
    "an effect before its attempt": ("S2", good(), [replace(EFFECT, at=START)]),
    "acted without an approval": ("S3", without("approval.decided"), [EFFECT]),
    "approved something else": ("S3", changed("approval.decided", digest="other"), [EFFECT]),
    "used after it had run out": ("S3", changed("approval.decided", run_by=START.isoformat()), [EFFECT]),
    "used in another transaction": ("S3", changed("approval.consumed", at=START), [EFFECT]),
    "other arguments outside": ("S3", good(), [replace(EFFECT, arguments={"cents": 2})]),
    "an approval used twice": ("S4", with_more("approval.consumed", after="call.observed"), [EFFECT]),
    "an approval decided twice": ("S4", with_more("approval.decided", after="approval.decided"), [EFFECT]),
    "verified, and nothing is there": ("S5", good(), []),
    "refused, and it is there": (
        "S5",
        changed("call.observed", move="refuse", facts=without("call.verified")),
        [EFFECT],
    ),
    "completed with a criterion that fails": ("S5", changed("evidence.observed", holds=False), [EFFECT]),
    "completed without evidence": ("S5", without("evidence.observed"), [EFFECT]),
    "completed, and an effect is missing": ("S6", without("call.verified"), []),
    "an old epoch writes after a claim": ("S7", changed("call.verified", epoch=1), [EFFECT]),
    "a step twice": ("S8", changed("step.decided", 1, step=1), [EFFECT]),
    "a step left out": ("S8", changed("step.decided", 1, step=3), [EFFECT]),
    "a step while a call is open": ("S8", without("call.verified"), [EFFECT]),
    "a new key on the retry": (
        "S9",
        with_more("call.attempted", after="call.attempted", key="k2", attempt=2),
        [EFFECT],
    ),
    "a name twice": ("S9", with_more("call.intended", after="call.verified"), [EFFECT]),
    "the task ends twice": ("S10", with_more("task.completed", after="task.completed"), [EFFECT]),
    "a gap": ("S11", good()[:5] + good()[6:], [EFFECT]),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_run_is_named_by_its_invariant(mutant: str) -> None:
    invariant, facts, ledger = MUTANTS[mutant]
    assert invariant in broken(facts, ledger)


def test_two_definite_answers_for_one_attempt_are_found() -> None:
    story = Story().claim().call().attempt()
    for outcome in ("ok", "refused"):
        story.say("call.outcome", epoch=1, name="pay", attempt=1, outcome=outcome, sent=True)
    assert "S10" in broken(story.facts, [replace(EFFECT, arguments={})])
