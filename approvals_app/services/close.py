"""Ends of an approval that no answer makes: expired, lapsed, voided, revoked. Under the locks of the caller."""

from datetime import datetime
from uuid import UUID

from approvals_app.changes import call_closed, task_wakes
from approvals_app.models import ApprovalRequest
from approvals_app.status import LIVE, ApprovalStatus
from tasks_app.models import Call, Task
from tasks_app.record.append import append
from tasks_app.record.events import (
    ApprovalExpired,
    ApprovalLapsed,
    ApprovalRevoked,
    ApprovalVoided,
    Event,
)
from tasks_app.status import TERMINAL, CallState

UNUSED = frozenset({CallState.ASKED, CallState.APPROVED})  # what ends with its approval; the reducer says the same
_CALL_STATE = {
    ApprovalStatus.EXPIRED: CallState.EXPIRED,
    ApprovalStatus.LAPSED: CallState.LAPSED,
    ApprovalStatus.VOIDED: CallState.VOIDED,
    ApprovalStatus.REVOKED: CallState.VOIDED,
}


def request_close(
    request: ApprovalRequest, *, to: ApprovalStatus, now: datetime, reason: str, by: str = ""
) -> tuple[Event, CallState]:
    """Change a live row whose lock the caller holds; return its event and what becomes of the call."""
    changed = ApprovalRequest.objects.filter(pk=request.pk, status__in=LIVE).update(
        status=to, closed_at=now, closed_reason=reason
    )
    assert changed == 1, "the caller holds the lock and has seen a live row"
    request.status, request.closed_at, request.closed_reason = to, now, reason
    return _event(request, to, reason, by), _CALL_STATE[to]


def _event(request: ApprovalRequest, to: ApprovalStatus, reason: str, by: str) -> Event:
    approval, name = str(request.pk), request.name
    match to:
        case ApprovalStatus.EXPIRED:
            return ApprovalExpired(approval=approval, name=name)
        case ApprovalStatus.LAPSED:
            return ApprovalLapsed(approval=approval, name=name)
        case ApprovalStatus.REVOKED:
            return ApprovalRevoked(approval=approval, name=name, by=by, reason=reason)
    return ApprovalVoided(approval=approval, name=name, reason=reason)


def request_close_and_append(
    task: Task,
    request: ApprovalRequest,
    *,
    to: ApprovalStatus,
    now: datetime,
    reason: str,
    actor: str,
    by: str = "",
) -> int:
    """Close a live approval in a transaction of its own making: event, call and task in one append; return its seq.

    Where the call stands on other grounds by now, it stays as it is: after a set-back of the database (C03) it is
    looked up beside its approval, found, or not there. The record of a task that has ended says nothing more.
    """
    event, state = request_close(request, to=to, now=now, reason=reason, by=by)
    if task.status in TERMINAL:
        return task.head_seq
    ends = Call.objects.filter(task=task, name=request.name, state__in=UNUSED).exists()
    return append(
        stream=task.pk,
        events=[event],
        actor=actor,
        task=task_wakes(task.status),
        calls=[call_closed(request.name, state)] if ends else [],
    ).head_seq


def approvals_void(*, task: UUID, names: frozenset[str] | None, reason: str, now: datetime) -> tuple[Event, ...]:
    """Void every pending and unused approval of a task (or of those calls); the task's row is locked (rule 10)."""
    rows = ApprovalRequest.objects.select_for_update().filter(task=task, status__in=LIVE).order_by("pk")
    chosen = rows if names is None else rows.filter(name__in=names)
    return tuple(request_close(row, to=ApprovalStatus.VOIDED, now=now, reason=reason)[0] for row in chosen)
