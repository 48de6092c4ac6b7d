"""One person's answer: kept, counted, and, where it decides, the decision with it. Under the locks of the caller."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from approvals_app.changes import call_approved, call_closed, task_approved, task_wakes
from approvals_app.deciders import counted
from approvals_app.hasty import is_hasty
from approvals_app.models import ApprovalAnswer, ApprovalRequest
from approvals_app.moments import Deciding
from approvals_app.status import Answer, ApprovalStatus, Via
from core.boundaries import Boundary, Position, cross
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import ApprovalAnswered, ApprovalDecided, Event
from tasks_app.status import CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One post about a request whose task and row are locked; its moment was read after the locks.

    ``beside``: characters of the other calls that are answered with it; None where it is about the agent, not the call.
    """

    task: Task
    request: ApprovalRequest
    moment: Deciding
    principal: Principal
    decision: Answer
    reason: str
    via: Via
    beside: int | None = 0

    @property
    def user(self) -> User:
        """Who answers."""
        return self.principal.user

    @property
    def now(self) -> datetime:
        """When."""
        return self.moment.now


def answer_record(post: Post) -> tuple[int | None, bool]:
    """Keep the answer and decide if it decides; return the last sequence (None: somebody was first) and whether."""
    _keep(post)
    request = post.request
    denied = post.decision == Answer.DENIED
    so_far = 0 if denied else _so_far(post)
    decides = denied or so_far >= request.quorum
    if decides and not _conclude(post):
        return None, False
    events: list[Event] = [_decided(post)] if decides else []
    if request.quorum > 1:
        events.insert(0, _answered(post, so_far))
    if decides:
        cross(Boundary.APPROVAL_DECIDED, Position.BEFORE, task=post.task.pk, call=request.name)
    closed = call_closed(request.name, CallState.DENIED, ordinal=len(events))
    done = append(
        stream=post.task.pk,
        events=events,
        actor=f"person:{post.user.get_username()}",
        task=_task_change(post) if decides else None,
        calls=[closed if denied else call_approved(request.name)] if decides else [],
    )
    return done.head_seq, decides


def _task_change(post: Post) -> dict[str, Any]:
    if post.decision == Answer.APPROVED:
        return task_approved(post.task, post.request.name)
    return task_wakes(post.task.status)


def _keep(post: Post) -> None:
    """Write the answer; whoever approved before and denies now has changed their mind, in time."""
    opened = post.moment.opened_at
    given = {
        "answer": post.decision,
        "reason": post.reason,
        "via": post.via,
        "at": post.now,
        "stepped_up_at": post.principal.stepped_up_at,
        "opened_at": opened,
        "hasty": _hasty(post),
    }
    ApprovalAnswer.objects.bulk_create(
        [ApprovalAnswer(request=post.request, user=post.user, **given)],
        update_conflicts=True,
        unique_fields=["request", "user"],
        update_fields=list(given),
    )


def _hasty(post: Post) -> bool:
    if post.beside is None:
        return False
    size = post.request.size + post.beside
    return is_hasty(size=size, opened=post.moment.opened_at, answered=post.now, via=post.via)


def _so_far(post: Post) -> int:
    """Count the approvals; where one is enough, the one who gives it has just been looked at."""
    return 1 if post.request.quorum == 1 else len(counted(request=post.request, task=post.task))


def _conclude(post: Post) -> bool:
    """Change the row. Conditional besides the lock: whoever forgets the lock still cannot decide twice."""
    request, approved = post.request, post.decision == Answer.APPROVED
    run_by = post.now + timedelta(seconds=request.run_within) if approved else None
    values: dict[str, Any] = {
        "status": ApprovalStatus.APPROVED if approved else ApprovalStatus.DENIED,
        "decision": post.decision,
        "decided_by": post.user,
        "decided_at": post.now,
        "decision_reason": post.reason,
        "decided_via": post.via,
        "run_by": run_by,
    }
    if not ApprovalRequest.objects.filter(pk=request.pk, status=ApprovalStatus.REQUESTED).update(**values):
        request.refresh_from_db()
        return False
    for name, value in values.items():
        setattr(request, name, value)
    return True


def _answered(post: Post, so_far: int) -> ApprovalAnswered:
    return ApprovalAnswered(
        approval=str(post.request.pk),
        name=post.request.name,
        digest=post.request.digest,
        answer=post.decision,
        by=post.user.get_username(),
        reason=post.reason,
        via=post.via,
        so_far=so_far,
        quorum=post.request.quorum,
    )


def _decided(post: Post) -> ApprovalDecided:
    request = post.request
    return ApprovalDecided(
        approval=str(request.pk),
        name=request.name,
        digest=request.digest,
        decision=post.decision,
        by=post.user.get_username(),
        reason=post.reason,
        via=post.via,
        run_by=request.run_by.isoformat() if request.run_by else None,
    )
