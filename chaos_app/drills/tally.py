"""From evidence to what the invariants look at: each task's record beside the effects that are its own. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from chaos_app.drills.evidence import Effect, Evidence, TaskRecord
from tasks_app.record.invariants import Case
from tasks_app.record.invariants import Effect as Counted
from tasks_app.record.reducing_calls import Fact
from tasks_app.status import EffectClass


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A broken invariant: which, of which task, where in its record (0: nowhere), and a sentence."""

    invariant: str
    sentence: str
    seq: int = 0
    role: str = "task"


@dataclass(frozen=True, kw_only=True)
class Told:
    """One task: its record as stored, and as the invariants read it."""

    record: TaskRecord
    case: Case

    @property
    def acting(self) -> list[str]:
        """Calls that have an effect outside."""
        return self.case.acting()

    def count(self, name: str) -> int:
        """How many effects the outside holds of a call; 0 for one that was never planned."""
        return len(self.case.effects(name)) if name in self.case.state.calls else 0

    def whole(self, name: str) -> int:
        """How many effects the outside holds of a call and of what a person has put in its place."""
        calls, found, seen = self.case.state.calls, 0, set()
        while name in calls and name not in seen:
            seen.add(name)
            found += self.count(name)
            name = calls[name]["replaced_by"]
        return found


def moment(seconds: float) -> datetime:
    """Return a moment of the evidence as a time."""
    return datetime.fromtimestamp(seconds, UTC)


def facts_of(record: TaskRecord) -> list[Fact]:
    """Return the events as the record's own pure modules take them."""
    return [
        Fact(seq=e.seq, kind=e.kind, data=dict(e.data), at=moment(e.at), epoch=e.epoch, actor=e.actor)
        for e in record.events
    ]


def tell(evidence: Evidence) -> list[Told]:
    """Return each task with its effects; an effect that names none of the tasks is laid before the first."""
    shares: list[list[Counted]] = [[] for _ in evidence.tasks]
    keys = [_keys(record) for record in evidence.tasks]
    for effect in real(evidence):
        at = _owner(effect, evidence.tasks, keys)
        shares[at].append(_counted(effect, evidence.tasks[at], keys[at]))
    return [
        Told(
            record=record,
            case=Case(
                facts=facts_of(record),
                ledger=share,
                items=evidence.expected.items,
                clocks=timedelta(seconds=evidence.expected.clocks),
            ),
        )
        for record, share in zip(evidence.tasks, shares, strict=True)
    ]


def real(evidence: Evidence) -> list[Effect]:
    """Return the effects that count: those that the fault itself planted are marked and left aside."""
    return [effect for effect in evidence.witness.effects if not effect.planted]


def _keys(record: TaskRecord) -> dict[str, str]:
    """Call name -> its key, as intended."""
    return {e.data["name"]: e.data["key"] for e in record.events if e.kind == "call.intended"}


def _owner(effect: Effect, tasks: tuple[TaskRecord, ...], keys: list[dict[str, str]]) -> int:
    for at, record in enumerate(tasks):
        if effect.key in keys[at].values() or (effect.call or "").startswith(f"{record.task}/"):
            return at
    return 0


def _counted(effect: Effect, record: TaskRecord, keys: dict[str, str]) -> Counted:
    """An item of a batch carries a key of its own, made of the call's: it is counted as the call's."""
    name = (effect.call or "").partition("/")[2]
    key = effect.key or ""
    if effect.item is not None and name in keys:
        key = keys[name]
    return Counted(
        key=key,
        arguments=effect.arguments,
        business_key=effect.business_key if effect.item is None else None,
        at=moment(effect.at),
    )


def ambiguous(evidence: Evidence) -> str:
    """Say which entry of the outside count fits two calls, or none by its form; "" where each fits one."""
    for effect in real(evidence):
        if not effect.key and not effect.call:
            return f"The outside counted {effect.system} {effect.reference}, which names no call at all."
        for record in evidence.tasks:
            keys = _keys(record)
            name = (effect.call or "").partition("/")[2]
            others = {other for other, key in keys.items() if key == effect.key} - {name}
            if name in keys and others and (effect.call or "").startswith(f"{record.task}/"):
                return (
                    f"The outside counted {effect.system} {effect.reference} for {name} under the key of another call."
                )
    return ""


def items_repeated(evidence: Evidence) -> Iterator[Broken]:
    """Yield each item of a batch that took effect more than once; their sum may well be right (S1)."""
    seen = Counter((e.system, e.call, e.key, e.item) for e in real(evidence) if e.item is not None)
    for (_, call, _, item), times in seen.items():
        if times > 1:
            name = (call or "").partition("/")[2]
            yield Broken(invariant="S1", sentence=f"Item {item} of the call {name!r} took effect {times} times.")


def calls_repeated(evidence: Evidence) -> Iterator[Broken]:
    """Yield each call that took effect under more than one key: by key alone, each would stand once (S1)."""
    for record in evidence.tasks:
        seen: dict[str, set[str | None]] = {}
        for effect in real(evidence):
            task, _, name = (effect.call or "").partition("/")
            if task == record.task and effect.item is None:
                seen.setdefault(name, set()).add(effect.key)
        for name, keys in seen.items():
            if len(keys) > 1:
                said = f"The call {name!r} took effect under {len(keys)} keys."
                yield Broken(invariant="S1", sentence=said, role=record.role)


def has_effect(evidence: Evidence) -> bool:
    """Whether any call of the case has an effect outside."""
    return any(
        e.kind == "call.intended" and e.data.get("effect_class") != EffectClass.NONE
        for record in evidence.tasks
        for e in record.events
    )
