"""Whether every task came to rest where somebody acts next (L1 to L4), and how long it took. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chaos_app.drills.evidence import Evidence, FaultLog, Mark, TaskRecord
from chaos_app.drills.landed import STOPPED, mark_of, twin_of
from chaos_app.drills.names import Stage
from chaos_app.drills.tally import Broken, Told, facts_of, moment
from tasks_app.record.reducer import State, apply, state_at
from tasks_app.status import OPEN, TERMINAL, CallState, Status

# Waiting for these, a task is held for a person; for anything else it only waits.
FOR_PEOPLE = frozenset({"approval", "stop"})
HELD = frozenset({Status.IN_DOUBT, Status.QUARANTINED, Status.UNVERIFIED, Status.PAUSED})


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds from the landed fault to the next claim, and to the drilled call's settling; None: not seen."""

    takeover: float | None = None
    settled: float | None = None


def expected_status(evidence: Evidence, role: str) -> str:
    """Return how a task ends without the fault."""
    twin = twin_of(evidence)
    statuses = twin.statuses if twin else evidence.expected.statuses
    return str(statuses.get(role, Status.COMPLETED))


def is_held(record: TaskRecord, evidence: Evidence) -> bool:
    """Whether a task is held for a person where it was not without the fault."""
    if record.status == expected_status(evidence, record.role):
        return False
    waits = record.status == Status.WAITING and (record.wait or {}).get("kind") in FOR_PEOPLE
    return waits or record.status in HELD


def limbo(evidence: Evidence, told: list[Told]) -> Iterator[Broken]:
    """Yield what is broken of L1 to L4."""
    yield from _not_taken_over(evidence)
    if not evidence.quiet:
        how = "; ".join(_standing(one) for one in told)
        yield Broken(invariant="L2", sentence=f"{_why_unquiet(told)} {how}.")
    for one in told:
        record = one.record
        yield from (Broken(invariant="L2", sentence=why, role=record.role) for why in _nowhere(record, evidence))
        if is_held(record, evidence):
            yield from (Broken(invariant="L3", sentence=why, role=record.role) for why in _helpless(one))
        if record.status == Status.QUARANTINED and expected_status(evidence, record.role) != Status.QUARANTINED:
            why = f"The task was stopped after {record.losses} lost workers, the limit is {record.loss_limit}."
            yield Broken(invariant="L4", sentence=why, role=record.role)


def _why_unquiet(told: list[Told]) -> str:
    if any(one.record.status == Status.QUEUED and not one.record.lease_live for one in told):
        return "A task is due and nobody takes it: no message reached a worker, and no sweeper found it."
    return "The time was over and things still moved."


def _standing(one: Told) -> str:
    """Say how a task stands, and its open calls."""
    record, calls = one.record, one.case.state.calls
    waits = f" for {record.wait.get('kind')}" if record.wait else ""
    still = [f"{name} is {call['state']}" for name, call in calls.items() if call["state"] in OPEN]
    return ", ".join([f"The {record.role} is {record.status}{waits}", *still])


def _nowhere(record: TaskRecord, evidence: Evidence) -> Iterator[str]:
    status = Status(record.status)
    if status in TERMINAL or record.status == expected_status(evidence, record.role) or is_held(record, evidence):
        return
    waits = f" for {record.wait.get('kind')}" if record.wait else ""
    yield f"At the end the task is {status}{waits}, and nobody goes on with it."


def _helpless(one: Told) -> Iterator[str]:
    """L3: blocked has an owner, evidence and an action."""
    if not one.record.owner:
        yield "The task is held for a person, and has no owner."
    doubts = one.case.of("call.in_doubt")
    if one.record.status == Status.IN_DOUBT and not doubts:
        yield "The task is held for a person, and nothing says which call is in doubt."
    for doubt in doubts:
        if not doubt.data.get("reason") or not doubt.data.get("check"):
            yield f"The call {doubt.data['name']!r} is in doubt, and nothing says why or how to check it."


def _not_taken_over(evidence: Evidence) -> Iterator[Broken]:
    for log in evidence.faults:
        landed = struck(log)
        record = record_of(evidence, log)
        if landed is None or record is None or not _held_then(record, landed):
            continue
        took, bound = _takeover(record, landed), evidence.expected.takeover_seconds
        if took is None:
            noted = any(e.data.get("lost_epoch") == landed.epoch for e in record.events if e.kind == "slice.lost")
            why = "" if noted else " Its loss is not in the record: nobody saw that it was dead, or said so."
            said = f"Nobody took the task over from the lost worker.{why}"
            yield Broken(invariant="L1", sentence=said, role=record.role)
        elif took > bound:
            why = f"The task was taken over after {took:.2f} s; the bound is {bound:g} s."
            yield Broken(invariant="L1", sentence=why, role=record.role)


def record_of(evidence: Evidence, log: FaultLog) -> TaskRecord | None:
    """Return the record that a fault was about: the named task's, otherwise the first."""
    named = [record for record in evidence.tasks if record.task == log.task]
    return (named or list(evidence.tasks) or [None])[0]  # type: ignore[list-item]


def struck(log: FaultLog) -> Mark | None:
    """Return the mark of a fault that landed, as of when it struck: a stopped process lands once it was taken over."""
    landed, fired = mark_of(log, Stage.LANDED), mark_of(log, Stage.FIRED)
    if landed is not None and fired is not None and log.fault in STOPPED:
        return replace(landed, at=fired.at)
    return landed


def _held_then(record: TaskRecord, landed: Mark) -> bool:
    """Whether the victim held the task when it died, and nothing was over yet: only then somebody must follow."""
    state = _state_then(record, landed)
    held = state.task["lease_nonce"] is not None and state.task["lease_epoch"] == landed.epoch
    return held and state.status not in TERMINAL


def _state_then(record: TaskRecord, landed: Mark) -> State:
    victim = landed.epoch  # what it wrote may be stamped a little later by the database's clock
    facts = (fact for fact in facts_of(record) if fact.at <= moment(landed.at) or (victim and fact.epoch == victim))
    return state_at(facts)


def _takeover(record: TaskRecord, landed: Mark) -> float | None:
    claims = [e for e in record.events if e.kind == "slice.claimed" and (e.epoch or 0) > (landed.epoch or 0)]
    return next((max(e.at - landed.at, 0.0) for e in claims if e.at > landed.at or landed.epoch is not None), None)


def times(evidence: Evidence, told: list[Told]) -> Times:
    """Return how long takeover and settling took after the last fault that landed."""
    for log in reversed(evidence.faults):
        landed, record = struck(log), record_of(evidence, log)
        if landed is not None and record is not None:
            one = next(t for t in told if t.record is record)
            return Times(takeover=_takeover(record, landed), settled=_settled(one, landed, evidence.expected.drilled))
    return Times()


def _settled(one: Told, landed: Mark, name: str) -> float | None:
    state, settled = State(), None
    for fact in one.case.facts:
        apply(state, fact)
        call = state.calls.get(name)
        if call and settled is None and (call["state"] not in OPEN or call["state"] == CallState.IN_DOUBT):
            settled = fact.at.timestamp()
    return max(settled - landed.at, 0.0) if settled is not None else None
