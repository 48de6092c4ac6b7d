"""The judge: evidence in, a verdict out. A pure function that can be asked again about stored evidence.

Effects are counted from the witness, never from our tables. A proven REPEATED, LOST or WRONG beats any gap in the
evidence; then STUCK; then NOT_FIRED; then INCONCLUSIVE; only then the good ends.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chaos_app.drills.cells import allowed
from chaos_app.drills.diagnosis import why_unheld, why_wrong
from chaos_app.drills.evidence import Evidence
from chaos_app.drills.forks import forks
from chaos_app.drills.landed import twin_of, why_not_landed, why_unbelievable
from chaos_app.drills.limbo import expected_status, is_held, limbo, times
from chaos_app.drills.names import UNDECIDED, Fault, Verdict
from chaos_app.drills.rows import BY_ID
from chaos_app.drills.tally import Broken, Told, calls_repeated, has_effect, items_repeated, tell
from chaos_app.drills.told import why_right
from core.words import word
from tasks_app.record.invariants import NO_EFFECT, violations
from tasks_app.status import Status

JUDGE = "4"  # raised with every change of what it decides; kept with each verdict
# The attempt, and the use of the approval, stood in commits that the database has lost: that is the fault itself.
LOST_WITH_COMMITS = frozenset({"S2", "S3"})
REPEATED, LOST, WRONG, STUCK = Verdict.REPEATED, Verdict.LOST, Verdict.WRONG, Verdict.STUCK


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What became of a case. ``unchecked``: invariants for which the evidence has nothing (named, never passed)."""

    verdict: Verdict
    cause: str
    as_allowed: bool
    allowed: tuple[Verdict, ...]
    broken: tuple[Broken, ...] = ()
    unchecked: tuple[str, ...] = ()
    takeover: float | None = None
    takeover_bound: float | None = None
    settled: float | None = None
    settled_bound: float | None = None
    judge: str = JUDGE

    @property
    def is_violation(self) -> bool:
        """Whether it ended as the table does not allow (a case that cannot be told is no violation, and no pass)."""
        return not self.as_allowed and self.verdict not in UNDECIDED


def judge(evidence: Evidence) -> Judgement:
    """Return the verdict on one case."""
    told = tell(evidence)
    broken = [*_safety(evidence, told), *limbo(evidence, told)]
    verdict, cause = _verdict(evidence, told, broken)
    cell, took = evidence.cell, times(evidence, told)
    ends = allowed(
        row=cell.row,
        position=cell.position,
        klass=cell.klass,
        fault=cell.fault,
        workload=cell.workload,
        beside=bool(evidence.faults) and evidence.faults[0].call not in {None, evidence.expected.drilled},
    )
    if verdict not in ends and verdict in {Verdict.BLOCKED, Verdict.NONE, Verdict.ONCE}:
        only = " or ".join(f"“{word('verdict', end).text}”" for end in sorted(ends))
        cause = f"{why_unheld(evidence, told) or cause} Here only {only} is allowed ({BY_ID[cell.row].resume})."
    return Judgement(
        verdict=verdict,
        cause=cause,
        as_allowed=verdict in ends,
        allowed=tuple(sorted(ends)),
        broken=tuple(broken),
        unchecked=() if evidence.rules else ("S12",),
        takeover=took.takeover,
        takeover_bound=evidence.expected.takeover_seconds,
        settled=took.settled,
        settled_bound=evidence.expected.settled_seconds,
    )


def _safety(evidence: Evidence, told: Sequence[Told]) -> Iterator[Broken]:
    """Yield what is broken of S1 to S12."""
    for one in told:
        for found in violations(one.case):
            if found.invariant in LOST_WITH_COMMITS and evidence.cell.fault == Fault.FAILOVER:
                continue
            role = one.record.role
            yield Broken(invariant=found.invariant, sentence=found.sentence, seq=found.seq, role=role)
        for problem in one.record.chain:
            yield Broken(invariant="S11", sentence=problem, role=one.record.role)
        if one.record.events and one.record.head_seq not in {0, one.record.events[-1].seq}:
            yield Broken(invariant="S11", sentence="The record does not end where its head is.", role=one.record.role)
    yield from items_repeated(evidence)
    yield from calls_repeated(evidence)
    yield from forks(told)
    if len(set(evidence.rules)) > 1:
        yield Broken(invariant="S12", sentence="The resume rules decided differently in another process.")


def _verdict(evidence: Evidence, told: Sequence[Told], broken: Sequence[Broken]) -> tuple[Verdict, str]:
    invariants = {b.invariant for b in broken}
    safety = [b for b in broken if b.invariant.startswith("S")]
    for verdict, meant in ((REPEATED, {"S1"}), (LOST, {"S6"})):
        if invariants & meant:
            return verdict, why_wrong(evidence, told, safety)
    if safety:
        return WRONG, why_wrong(evidence, told, safety)
    other = _ended_otherwise(evidence, told)
    if other:
        return WRONG, other
    if broken:
        return STUCK, broken[0].sentence
    if why := why_not_landed(evidence):
        return Verdict.NOT_FIRED, why
    if why := why_unbelievable(evidence):
        return Verdict.INCONCLUSIVE, why
    verdict = _good_end(evidence, told)
    return verdict, why_right(evidence, told, verdict)


def _ended_otherwise(evidence: Evidence, told: Sequence[Told]) -> str:
    """Say in what a case ended otherwise than the run without the fault, unless it is held or rightly not done."""
    if twin_of(evidence) is None:
        return ""
    for one in told:
        status, meant = Status(one.record.status), expected_status(evidence, one.record.role)
        if (
            status in {Status.FAILED, Status.CANCELLED, Status.COMPLETED}
            and status != meant
            and not _rightly_none(told)
        ):
            return f"The task ended {status}; without the fault it ends {meant}."
    if any(is_held(one.record, evidence) for one in told) or _rightly_none(told):
        return ""
    return _counts_differ(evidence, told)


def _counts_differ(evidence: Evidence, told: Sequence[Told]) -> str:
    twin = twin_of(evidence)
    ended = all(one.record.status == expected_status(evidence, one.record.role) for one in told)
    for name, meant in (twin.effects if twin and ended else {}).items():
        counts = [one.whole(name) for one in told]
        if sum(counts) < meant:
            return f"The outside holds {sum(counts)} effects of {name}; without the fault it holds {meant}."
    return ""


def _rightly_none(told: Sequence[Told]) -> bool:
    """Whether no call took effect, and each was refused, denied, withdrawn or never planned."""
    calls = [(one, name) for one in told for name in one.acting]
    settled = all(one.case.state.calls[name]["state"] in NO_EFFECT for one, name in calls if not one.count(name))
    return settled and not any(one.count(name) for one, name in calls) and _was_prevented(told)


def _was_prevented(told: Sequence[Told]) -> bool:
    """Whether something is there that rightly kept the effects back: a refusal, a cancel, an agent's own end."""
    prevented = ("call.withdrawn", "approval.decided", "approval.expired", "approval.lapsed", "approval.voided")
    more = ("approval.revoked", "task.cancelled", "task.cancel_requested", "call.settled", "task.unverified")
    return any(one.case.of(*prevented, *more) or one.case.of("call.outcome", "call.observed") for one in told)


def _good_end(evidence: Evidence, told: Sequence[Told]) -> Verdict:
    if any(is_held(one.record, evidence) for one in told):
        return Verdict.BLOCKED
    drilled = [one for one in told if evidence.expected.drilled in one.acting]
    if drilled and all(_is_none(one, evidence.expected.drilled) for one in drilled):
        return Verdict.NONE
    if not drilled and (evidence.expected.end == Verdict.NONE or (has_effect(evidence) and _rightly_none(told))):
        return Verdict.NONE
    return Verdict.ONCE


def _is_none(one: Told, name: str) -> bool:
    return not one.whole(name) and one.case.state.calls[name]["state"] in NO_EFFECT
