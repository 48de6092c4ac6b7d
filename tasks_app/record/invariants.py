"""What must hold over a record and what happened outside, once everything is quiet (S1 to S11). Pure: no Django.

The outside's ledger is written by the outside, never by us. An effect belongs to the call whose key it carries;
ledgers that judge carry the key even where the effect itself ignores it. S12 (the rules decide the same in any
process) is a statement about code, not about one record: see ``resume``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tasks_app.record.canonical import json_equal
from tasks_app.record.reducer import State, apply, state_at
from tasks_app.record.reducing_calls import Fact
from tasks_app.status import EFFECT_HOLDS, CallState, EffectClass, Status

NO_EFFECT = frozenset(
    {
        CallState.REFUSED,
        CallState.DENIED,
        CallState.EXPIRED,
        CallState.LAPSED,
        CallState.VOIDED,
        CallState.WITHDRAWN,
        CallState.NOT_HAPPENED,
    }
)
ENDS = frozenset({"task.completed", "task.failed", "task.cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One entry of the outside's ledger. ``at``: by a clock that agrees with the database's to ``Case.clocks``."""

    key: str
    arguments: Mapping[str, Any] | None = None
    business_key: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken invariant: which, where in the record (0: nowhere), and a sentence."""

    invariant: str
    seq: int
    sentence: str


@dataclass(slots=True, kw_only=True)
class Case:
    """One record and the outside's ledger. ``items``: how many effects a call has (batches); 1 if not named."""

    facts: Sequence[Fact]
    ledger: Sequence[Effect]
    items: Mapping[str, int] = field(default_factory=dict)
    clocks: timedelta = timedelta(0)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        self.state = state_at(self.facts)

    def of(self, *kinds: str, name: str | None = None) -> list[Fact]:
        """The events of these kinds (of one call), in order."""
        return [f for f in self.facts if f.kind in kinds and (name is None or f.data.get("name") == name)]

    def effects(self, name: str) -> list[Effect]:
        """X(c): the entries that carry the call's key."""
        key = self.state.calls[name]["key"]
        return [effect for effect in self.ledger if effect.key == key]

    def expected(self, name: str) -> int:
        """How many effects the call has when it happened."""
        return self.items.get(name, 1)

    def acting(self) -> list[str]:
        """The calls that have an effect outside."""
        return [name for name, call in self.state.calls.items() if call["effect_class"] != EffectClass.NONE]


def violations(case: Case) -> list[Violation]:
    """Return every broken invariant; an empty list is what a run must end with."""
    return [
        Violation(invariant=name, seq=seq, sentence=sentence)
        for name, check in CHECKS.items()
        for seq, sentence in check(case)
    ]


Found = Iterator[tuple[int, str]]


def _no_repetition(case: Case) -> Found:
    for name in case.acting():
        count = len(case.effects(name))
        if count > case.expected(name):
            yield case.state.calls[name]["intended_seq"], f"The call {name!r} took effect {count} times."
    seen: dict[str, set[str]] = {}
    for effect in case.ledger:
        if effect.business_key:
            seen.setdefault(effect.business_key, set()).add(effect.key)
    allowed = [fact.data["business_key"] for fact in case.of("call.repeat_allowed")]
    for key, calls in seen.items():
        if len(calls) > 1 + allowed.count(key):
            yield 0, f"The act {key!r} was done by {len(calls)} calls."


def _no_ghost(case: Case) -> Found:
    first = {f.data["key"]: f for f in reversed(case.of("call.attempted"))}
    for effect in case.ledger:
        attempt = first.get(effect.key)
        if attempt is None:
            yield 0, f"An effect carries the key {effect.key!r}, and no attempt was recorded under it."
        elif effect.at is not None and effect.at < attempt.at - case.clocks:
            yield attempt.seq, f"The effect of {attempt.data['name']!r} is older than its first attempt."


def _approved_only(case: Case) -> Found:
    for intended in case.of("call.intended"):
        name = intended.data["name"]
        asked = (intended.data.get("policy") or {}).get("outcome") == "ask"
        if asked and (case.effects(name) or case.of("call.attempted", name=name)):
            yield from ((intended.seq, sentence) for sentence in _unapproved(case, intended))
        for effect in case.effects(name):
            if effect.arguments is not None and not json_equal(dict(effect.arguments), intended.data["arguments"]):
                yield intended.seq, f"The effect of {name!r} has other arguments than were intended."


def _unapproved(case: Case, intended: Fact) -> Iterator[str]:
    name, digest = intended.data["name"], intended.data["digest"]
    yes = [f for f in case.of("approval.decided", name=name) if f.data["decision"] == "approved"]
    used, attempts = case.of("approval.consumed", name=name), case.of("call.attempted", name=name)
    if not yes or not used or not attempts:
        yield f"The call {name!r} needs a person, and acted without an approval that was given and used."
        return
    if {f.data["digest"] for f in [*yes, *used]} != {digest}:
        yield f"What was approved for {name!r} is not what was intended."
    if used[0].at != attempts[0].at or used[0].seq > attempts[0].seq:
        yield f"The approval of {name!r} was not used in the transaction of its first attempt."
    run_by = yes[0].data.get("run_by")
    if run_by and used[0].at > datetime.fromisoformat(run_by):
        yield f"The approval of {name!r} was used after it had run out."


def _consume_once(case: Case) -> Found:
    for kind, word in (("approval.decided", "decided"), ("approval.consumed", "used")):
        seen: set[str] = set()
        for fact in case.of(kind):
            if fact.data["approval"] in seen:
                yield fact.seq, f"The approval of {fact.data['name']!r} was {word} twice."
            seen.add(fact.data["approval"])


def _no_false_success(case: Case) -> Found:
    for name in case.acting():
        call, count = case.state.calls[name], len(case.effects(name))
        if call["state"] in {CallState.VERIFIED, CallState.ANSWERED} and count != case.expected(name):
            yield call["settled_seq"], f"The call {name!r} is {call['state']}, and the outside holds {count} effects."
        if call["state"] in NO_EFFECT and count and not call["replaced_by"]:
            yield call["settled_seq"] or 0, f"The call {name!r} is {call['state']}, and it took effect."
    for done in case.of("task.completed"):
        checked = [f for f in case.of("evidence.observed") if f.at == done.at]
        if len(checked) != done.data["criteria"] or not checked or not all(f.data["holds"] for f in checked):
            yield done.seq, "The task was completed without every criterion holding."


def _no_loss(case: Case) -> Found:
    if case.state.status != Status.COMPLETED:
        return
    for name in case.acting():
        call, count = case.state.calls[name], len(case.effects(name))
        if call["state"] not in NO_EFFECT and count < case.expected(name):
            yield call["intended_seq"], f"The task is completed, and the effect of {name!r} is missing."
        if call["state"] not in NO_EFFECT | EFFECT_HOLDS:
            yield call["intended_seq"], f"The task is completed, and the call {name!r} is {call['state']}."


def _fencing(case: Case) -> Found:
    newest = 0
    for fact in case.facts:
        if fact.epoch is not None and fact.epoch < newest and fact.kind != "call.late_receipt":
            yield fact.seq, f"{fact.kind} was written under lease no. {fact.epoch}, after no. {newest} was claimed."
        if fact.kind == "slice.claimed":
            newest = max(newest, fact.epoch or 0)


def _continuation(case: Case) -> Found:
    last, state = 0, State()
    for fact in case.facts:
        if fact.kind == "step.decided":
            if fact.data["step"] != last + 1:
                yield fact.seq, f"Step {fact.data['step']} was decided after step {last}."
            if state.open_names():
                yield fact.seq, f"Step {fact.data['step']} was decided while {state.open_names()} was open."
            last = fact.data["step"]
        if fact.kind == "checkpoint.advanced" and (state.open_names() or fact.data["step"] != last):
            yield fact.seq, f"The checkpoint of step {fact.data['step']} covers calls that are open."
        apply(state, fact)


def _identity(case: Case) -> Found:
    keys: dict[str, str] = {}
    for fact in case.of("call.intended", "call.attempted"):
        name, key = fact.data["name"], fact.data["key"]
        if fact.kind == "call.intended" and name in keys:
            yield fact.seq, f"The name {name!r} was used twice."
        if keys.setdefault(name, key) != key:
            yield fact.seq, f"An attempt of {name!r} carries another key."
    if len(set(keys.values())) != len(keys):
        yield 0, "Two calls carry the same key."


def _one_outcome(case: Case) -> Found:
    definite: set[tuple[str, int]] = set()
    receipts: set[tuple[str, int]] = set()
    for fact in case.of("call.outcome", "call.late_receipt"):
        about = (fact.data["name"], fact.data["attempt"])
        seen = receipts if fact.kind == "call.late_receipt" else definite
        if fact.data["outcome"] in {"ok", "refused"} and fact.data.get("sent", True):
            if about in seen:
                yield fact.seq, f"Attempt {about[1]} of {about[0]!r} has two definite answers."
            seen.add(about)
    for both in definite & receipts:
        yield 0, f"Attempt {both[1]} of {both[0]!r} has an outcome and a late receipt."
    ends = case.of(*ENDS)
    if len(ends) > 1:
        yield ends[1].seq, "The task ended twice."


def _append_only(case: Case) -> Found:
    for due, fact in enumerate(case.facts, start=1):
        if fact.seq != due:
            yield fact.seq, f"Event {fact.seq} stands where event {due} is due."
            return


CHECKS: dict[str, Callable[[Case], Found]] = {
    "S1": _no_repetition,
    "S2": _no_ghost,
    "S3": _approved_only,
    "S4": _consume_once,
    "S5": _no_false_success,
    "S6": _no_loss,
    "S7": _fencing,
    "S8": _continuation,
    "S9": _identity,
    "S10": _one_outcome,
    "S11": _append_only,
}
