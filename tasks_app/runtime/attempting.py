"""Committing attempts: conditional, in their own transaction, on token, status, stop switches, limits and the gate."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

from core.boundaries import Boundary, Position, cross
from tasks_app.contracts import Contract
from tasks_app.gate import Admission as GateAdmission
from tasks_app.gate import gate
from tasks_app.models import Call
from tasks_app.record.append import Admission, CallChange, Seq, Stale
from tasks_app.record.events import After, CallAttempted, CallOutcome, CallResumeDecided
from tasks_app.resume import Do
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.ready import SEND_SECONDS, Ready, ready_make
from tasks_app.runtime.recorded import RecordedCall
from tasks_app.runtime.session import Session
from tasks_app.runtime.standing import call_commit
from tasks_app.status import CallState, EffectClass, Status


class NotAdmitted(Exception):
    """T1 said no; nothing was written."""

    def __init__(self, admission: GateAdmission) -> None:
        self.admission = admission
        super().__init__(admission.reason)


def admission_of(contracts: Sequence[Contract], agent_limit: int | None, *, again: int | None = None) -> Admission:
    """Return what these attempts are conditional on: stop switches, limits of calls at once.

    ``again``: the id of the call that is sent, where it is in the record already.
    """
    attempts: dict[str, int] = {}
    for contract in contracts:
        attempts[contract.name] = attempts.get(contract.name, 0) + 1
    limits = {c.name: c.at_once for c in contracts if c.at_once is not None}
    return Admission(attempts=attempts, tool_limits=limits, agent_limit=agent_limit, again=again)


def attempt_event(name: str, attempt: int, key: str, contract: Contract, approval: str | None = None) -> CallAttempted:
    """Return ``call.attempted``: ``send_by`` and ``deadline`` are the database's times."""
    return CallAttempted(
        name=name,
        attempt=attempt,
        key=key,
        send_by=After(SEND_SECONDS),
        deadline=After(SEND_SECONDS + contract.timeout),
        under_approval=approval,
    )


def attempt_values(attempts: int, contract: Contract, epoch: int, seq: Seq) -> dict[str, object]:
    """Return the change of a ``call`` row that an attempt makes."""
    first = {"first_attempt_at": After(0)} if attempts == 1 else {}
    return {
        "state": CallState.ATTEMPTED,
        "attempts": attempts,
        "deadline": After(SEND_SECONDS + contract.timeout),
        "attempt_epoch": epoch,
        "attempted_seq": seq,
        "next_look_at": None,
        **first,
    }


SETTLED_BY_GATE = {CallState.REFUSED, CallState.DENIED, CallState.EXPIRED, CallState.LAPSED, CallState.VOIDED}


@dataclass(frozen=True, slots=True)
class Blocked:
    """An attempt that was not committed, and why."""

    reason: str


def attempt_commit(
    session: Session, row: Call, recorded: RecordedCall, agent_limit: int | None
) -> Ready | Blocked | None:
    """Commit one attempt of an open call; None where the record moved on (think again).

    Under an approval this is T1: task, then approval, then grant are locked, checked, consumed, appended; any failed
    check rolls all back. A first attempt that comes here was not in the commit of its intention: policy may have
    become stricter, so T1 is asked whether the call is still allowed.
    """
    contract = recorded.contract
    assert contract is not None
    if EffectClass(row.effect_class) == EffectClass.NONE and not recorded.gated:
        return _without_attempt(session, row, recorded, contract)
    attempt = row.attempts + 1
    event = attempt_event(row.name, attempt, row.key, contract)
    values = attempt_values(attempt, contract, session.lease.token.epoch, Seq(1))
    if row.state in {CallState.ATTEMPTED}:
        values["maybe_applied"] = True  # the attempt of a lost epoch has no outcome
    anchor = time.monotonic()
    try:
        session.commit(
            [event],
            boundary=Boundary.ATTEMPT,
            calls=[CallChange(name=row.name, set=values)],
            admission=admission_of([contract], agent_limit, again=row.pk),
            inside=_t1(session, row, contract) if recorded.gated or attempt == 1 else None,
            call=row.name,
        )
    except NotAdmitted as refused:
        return _not_admitted(session, row, contract, refused.admission)
    except Stale as stale:
        session.refresh()
        if stale.refusal.startswith(("stopped", "limit")):
            session.stopped = stale.refusal
            return Blocked(stale.refusal)
        return None
    if recorded.gated and attempt == 1:
        cross(Boundary.APPROVAL_USED, Position.AFTER, task=session.lease.task, call=row.name)
    fresh = session.open[row.name]
    return ready_make(session, fresh, contract, recorded.arguments, anchor=anchor, seen=recorded.intended.get("seen"))


def _without_attempt(session: Session, row: Call, recorded: RecordedCall, contract: Contract) -> Ready | Blocked | None:
    """Let a call without effect run, which records no attempt, as long as policy still allows it."""
    if row.attempts == 0:
        with transaction.atomic():
            admission = gate().admit(task=session.task, call=row, contract=contract, digest=row.digest, first=True)
        if not admission.admitted:
            return _not_admitted(session, row, contract, admission)
    return ready_make(session, row, contract, recorded.arguments, anchor=time.monotonic(), seen=None)


def _t1(session: Session, row: Call, contract: Contract) -> Callable[[], Inside]:
    def inside() -> Inside:
        admission = gate().admit(
            task=session.task, call=row, contract=contract, digest=row.digest, first=row.attempts == 0
        )
        if not admission.admitted:
            raise NotAdmitted(admission)
        return Inside(before=admission.events)

    return inside


def _not_admitted(session: Session, row: Call, contract: Contract, first: GateAdmission) -> Blocked | None:
    """T1 refused, and all was rolled back. What the refusal leads to is a transaction of its own.

    Nothing attempted yet: the call ends as the gate says. A resend, also of what may have been sent in commits that
    the database has lost (C03): look, never send (E03).
    """
    resend = row.attempts > 0 or row.state == CallState.UNKNOWN
    if not resend and first.call_state not in SETTLED_BY_GATE:
        return _read_again(session, row, first)
    if resend:
        event = CallResumeDecided(
            name=row.name,
            rule="E03",
            move=Do.LOOK_UP,
            effect_class=row.effect_class,
            reason=first.reason,
            seen={},
            look_first=True,
        )
        look = {"look_first": True, "state": CallState.UNKNOWN, "maybe_applied": True}
        call_commit(session, row, [event], set=look, boundary=Boundary.DECIDE)
        return None

    def inside() -> Inside:
        again = gate().admit(task=session.task, call=row, contract=contract, digest=row.digest, first=True)
        if again.admitted or again.call_state != first.call_state:
            raise NotAdmitted(again)
        return Inside(after=again.events or [_refusal(row, again)])

    settled = {"answer_seq": Seq(1), "settled_seq": Seq(1), "holds_business_key": False}
    values = {"state": first.call_state, **settled}
    try:
        call_commit(session, row, [], set=values, boundary=Boundary.DECIDE, inside=inside)
    except NotAdmitted:
        session.refresh()
    return None


def _read_again(session: Session, row: Call, admission: GateAdmission) -> Blocked | None:
    """The gate saw another state than we did: think again; if the record says the same, look again in a second."""
    session.refresh()
    fresh = session.open.get(row.name)
    if fresh is None or fresh.state != row.state or session.status != Status.RUNNING:
        return None
    session.stopped = f"limit: {admission.reason}"
    return Blocked(admission.reason)


def _refusal(row: Call, admission: GateAdmission) -> CallOutcome:
    """Return what the record says where the gate itself has nothing to say: never sent, and why."""
    error = {"code": "not-admitted", "reason": admission.reason}
    return CallOutcome(name=row.name, attempt=0, outcome="refused", error=error, sent=False)
