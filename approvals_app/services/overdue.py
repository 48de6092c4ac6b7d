"""What happens at the first clock: expired, another group asked, or kept waiting; never allowed (rule 4)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals_app.models import ApprovalRequest
from approvals_app.services.close import request_close_and_append
from approvals_app.services.locks import overdue
from approvals_app.status import ApprovalStatus, OnExpiry
from approvals_app.tools import tool_change
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import ApprovalEscalated, ApprovalOverdue

NOBODY = "nobody decided in time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What was appended. ``waits_on``: the request waits as before, without a deadline."""

    seq: int
    waits_on: bool = False


def deadline_pass(*, task: Task, request: ApprovalRequest, now: datetime, actor: str) -> Passed | None:
    """Do what the rule says at the deadline of a waiting request; None where it may be decided as before.

    The caller holds both locks and has read ``now`` after them. A tool that changed ends the request as well.
    """
    if request.status != ApprovalStatus.REQUESTED:
        return None
    if not overdue(request, now):
        change = tool_change(request)
        return _close(task, request, ApprovalStatus.VOIDED, now, change, actor) if change else None
    if request.on_expiry == OnExpiry.WAIT:
        return _keep(task, request, now, actor)
    if request.on_expiry == OnExpiry.ESCALATE and request.escalated_at is None:
        return _escalate(task, request, now, actor)
    return _close(task, request, ApprovalStatus.EXPIRED, now, NOBODY, actor)


def _close(task: Task, request: ApprovalRequest, to: ApprovalStatus, now: datetime, reason: str, actor: str) -> Passed:
    return Passed(seq=request_close_and_append(task, request, to=to, now=now, reason=reason, actor=actor))


def _keep(task: Task, request: ApprovalRequest, now: datetime, actor: str) -> Passed:
    request.overdue_at, request.decide_by = now, None
    request.save(update_fields=["overdue_at", "decide_by"])
    event = ApprovalOverdue(approval=str(request.pk), name=request.name)
    return Passed(seq=append(stream=task.pk, events=[event], actor=actor).head_seq, waits_on=True)


def _escalate(task: Task, request: ApprovalRequest, now: datetime, actor: str) -> Passed:
    """Ask the other group, for as long again as the first had."""
    before, again = request.group, now + timedelta(seconds=request.policy["decide_within"])
    request.group, request.escalated_at, request.decide_by = request.escalate_to, now, again
    request.save(update_fields=["group", "escalated_at", "decide_by"])
    event = ApprovalEscalated(
        approval=str(request.pk),
        name=request.name,
        from_group=before,
        group=request.group,
        decide_by=again.isoformat(),
    )
    return Passed(seq=append(stream=task.pk, events=[event], actor=actor).head_seq)
