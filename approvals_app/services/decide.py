"""One decision: approve or deny, by one person, on one digest, once (A02, A03, S4)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from approvals_app.changes import call_approved, call_closed, task_wakes
from approvals_app.deciders import decider_check
from approvals_app.models import ApprovalRequest
from approvals_app.services.close import request_close_and_append
from approvals_app.services.locks import approval_lock, overdue
from approvals_app.services.woken import task_wake
from approvals_app.status import Answer, ApprovalStatus, Via
from approvals_app.tools import tool_change
from approvals_app.words import taken_sentence
from core.boundaries import Boundary, Position, cross
from core.errors import Conflict, InvalidInput
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import ApprovalDecided
from tasks_app.status import TERMINAL, CallState

MOST_REASON = 2000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a post: the row as it is now, and whether this post changed it."""

    request: ApprovalRequest
    new: bool
    refusal: Conflict | None = None
    seq: int | None = None


def approval_decide(
    *,
    approval: UUID,
    principal: Principal,
    decision: Answer,
    reason: str,
    digest: str,
    via: Via,
) -> Outcome:
    """Approve or deny a call, in one transaction; wake its task after the commit.

    ``digest`` is the call digest of what the person has read. The same answer from the same person again is the
    same answer (``new`` is False). Raises NotFound (unknown, or another workspace's), Forbidden (no right, a party
    to the task, an agent's token), Conflict (decided, expired, withdrawn, or not the call that was shown),
    InvalidInput. Source: rules 1, 3, 4, 6 and 11, A02, case-12 to case-16.
    """
    if len(reason) > MOST_REASON:
        raise InvalidInput(f"A reason has at most {MOST_REASON} characters; nothing was changed.")
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        decider_check(request=request, task=task, principal=principal)
        outcome = _decide(task, request, now, principal.user, decision, reason, digest, via)
    if outcome.seq is not None:
        if outcome.new:
            cross(Boundary.APPROVAL_DECIDED, Position.AFTER, task=task.pk, call=request.name)
        task_wake(task=task, call=request.name, seq=outcome.seq)
    if outcome.refusal:
        raise outcome.refusal
    return outcome


def _decide(
    task: Task,
    request: ApprovalRequest,
    now: datetime,
    user: User,
    decision: Answer,
    reason: str,
    digest: str,
    via: Via,
) -> Outcome:
    if _same_answer(request, user, decision):
        return Outcome(request=request, new=False)
    if request.status != ApprovalStatus.REQUESTED:
        raise _taken(request)
    if task.status in TERMINAL:
        raise Conflict("The task has ended; nothing was changed.", state=request.status)
    ended = _ended(task, request, now)
    if ended:
        return ended
    if digest != request.digest:
        raise Conflict(
            "What was sent is not the call that is asked for: read the card again, then decide. Nothing was changed.",
            state=request.status,
            digest=request.digest,
        )
    return _record(task, request, now, user, decision, reason, via)


def _same_answer(request: ApprovalRequest, user: User, decision: Answer) -> bool:
    """Whether it is what this person has said before, and it still stands or was used (case-13)."""
    stands = request.status in {ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.CONSUMED}
    return stands and request.decision == decision and request.decided_by_id == user.pk


def _taken(request: ApprovalRequest) -> Conflict:
    return Conflict(
        taken_sentence(request),
        state=request.status,
        decision=request.decision or None,
        decided_by=request.decided_by.get_username() if request.decided_by else None,
        decided_at=request.decided_at.isoformat() if request.decided_at else None,
    )


def _ended(task: Task, request: ApprovalRequest, now: datetime) -> Outcome | None:
    """Close a request that can no longer be decided, whether or not the sweeper has come by (case-14 b, case-11)."""
    if overdue(request, now):
        to, why = ApprovalStatus.EXPIRED, "nobody decided in time"
    elif change := tool_change(request):
        to, why = ApprovalStatus.VOIDED, change
    else:
        return None
    seq = request_close_and_append(task, request, to=to, now=now, reason=why, actor="system").head_seq
    return Outcome(request=request, new=False, refusal=_taken(request), seq=seq)


def _record(
    task: Task,
    request: ApprovalRequest,
    now: datetime,
    user: User,
    decision: Answer,
    reason: str,
    via: Via,
) -> Outcome:
    approved = decision == Answer.APPROVED
    run_by = now + timedelta(seconds=request.run_within) if approved else None
    # Conditional besides the lock: whoever forgets the lock still cannot decide twice.
    changed = ApprovalRequest.objects.filter(pk=request.pk, status=ApprovalStatus.REQUESTED).update(
        status=ApprovalStatus.APPROVED if approved else ApprovalStatus.DENIED,
        decision=decision,
        decided_by=user,
        decided_at=now,
        decision_reason=reason,
        decided_via=via,
        run_by=run_by,
    )
    request.refresh_from_db()
    if changed != 1:
        raise _taken(request)
    event = ApprovalDecided(
        approval=str(request.pk),
        name=request.name,
        digest=request.digest,
        decision=decision,
        by=user.get_username(),
        reason=reason,
        via=via,
        run_by=run_by.isoformat() if run_by else None,
    )
    cross(Boundary.APPROVAL_DECIDED, Position.BEFORE, task=task.pk, call=request.name)
    appended = append(
        stream=task.pk,
        events=[event],
        actor=f"person:{user.get_username()}",
        task=task_wakes(task.status),
        calls=[call_approved(request.name) if approved else call_closed(request.name, CallState.DENIED)],
    )
    return Outcome(request=request, new=True, seq=appended.head_seq)
