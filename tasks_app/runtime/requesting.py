"""Asking for approvals: with the intention, or later where too many were open (A01)."""

from collections.abc import Sequence
from uuid import UUID

from core.boundaries import Boundary, Position, cross
from tasks_app.gate import ASK_LATER, gate
from tasks_app.models import Call
from tasks_app.models import Event as EventRow
from tasks_app.record.append import CallChange, Seq, Stale
from tasks_app.record.events import ApprovalDecided, Event
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.intending import Intended
from tasks_app.runtime.recorded import RecordedCall, event_data
from tasks_app.runtime.session import Session
from tasks_app.status import CallState


def requests_inside(session: Session, items: Sequence[Intended]) -> Inside:
    """Build the requests of calls that are being intended, in the transaction of the commit."""
    events: list[Event] = []
    calls: list[CallChange] = []
    for item in items:
        asked = gate().request(
            task=session.task,
            call=item.change(session.task, seq=Seq(1), state=CallState.ASKED),
            contract=item.contract,
            arguments=item.event.arguments,
            digest=item.event.digest,
            policy=item.assessment.policy,
            reason=item.note,
        )
        events += asked
        calls += _answered(item.event.name, asked)
    return Inside(after=events, calls=calls)


def request_commit(session: Session, row: Call, recorded: RecordedCall) -> bool:
    """Ask for a call that was intended while too many requests were open; False where there still is no room."""
    assert recorded.contract is not None
    contract = recorded.contract
    asked = CallChange(name=row.name, set={"state": CallState.ASKED})

    def inside() -> Inside:
        events = gate().request(
            task=session.task,
            call=asked,
            contract=contract,
            arguments=recorded.intended["arguments"],
            digest=row.digest,
            policy=recorded.intended["policy"],
            reason=_note(row),
        )
        return Inside(after=events, calls=_answered(row.name, events))

    try:
        session.commit([], boundary=Boundary.DECIDE, calls=[asked], inside=inside, call=row.name)
    except Stale as stale:
        session.refresh()
        if not stale.refusal.startswith(ASK_LATER):
            return True  # somebody else appended: think again
        session.stopped = stale.refusal
        return False
    asked_cross(session.lease.task, session.lease.token.epoch)
    return True


def asked_cross(task: UUID, epoch: int | None) -> None:
    """Cross A01: asked for, and nobody has been told."""
    cross(Boundary.APPROVAL_ASKED, Position.AFTER, task=task, epoch=epoch)


def _answered(name: str, events: Sequence[Event]) -> list[CallChange]:
    """A standing grant answers at once: then the call may run."""
    granted = any(isinstance(event, ApprovalDecided) for event in events)
    return [CallChange(name=name, set={"state": CallState.APPROVED})] if granted else []


def _note(row: Call) -> str:
    """Return what the agent said when it decided, from the record: the slice that heard it may be gone."""
    decided = EventRow.objects.filter(stream=row.task_id, kind="step.decided", seq__lt=row.intended_seq).last()
    return str(event_data(row.task_id, decided.seq).get("note") or "") if decided else ""
