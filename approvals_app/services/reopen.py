"""A person lets a denied call be proposed again (rule 9: no means no, unless a person asked for it)."""

from uuid import UUID

from django.db import transaction

from approvals_app.deciders import decider_check
from approvals_app.models import ApprovalRequest
from approvals_app.services.locks import approval_lock
from approvals_app.status import ApprovalStatus
from approvals_app.words import taken_sentence
from core.errors import Conflict
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import ApprovalReopened
from tasks_app.status import TERMINAL, Status

_OVER = (
    "This task has ended, or is being cancelled: its agent cannot ask for anything in it any more. Nothing was changed;"
    " start a new task if the call is wanted after all."
)


def may_ask(task: Task) -> bool:
    """Whether the agent of a task can still ask for anything in it."""
    return task.status not in TERMINAL | {Status.CANCELLING}


def approval_reopen(*, approval: UUID, principal: Principal, reason: str) -> ApprovalRequest:
    """Let the agent propose a denied call again; it is asked anew then. Again is the same answer.

    Raises NotFound, Forbidden (as for a decision), Conflict where nothing was denied, or nobody can ask any more.
    """
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        decider_check(request=request, task=task, principal=principal)
        if request.status != ApprovalStatus.DENIED:
            raise Conflict(taken_sentence(request), state=request.status)
        if request.reopened_at is None:
            if not may_ask(task):
                raise Conflict(_OVER, state=request.status)
            name = principal.user.get_username()
            event = ApprovalReopened(approval=str(request.pk), name=request.name, by=name, reason=reason)
            append(stream=task.pk, events=[event], actor=f"person:{name}")
            request.reopened_by, request.reopened_at = principal.user, now
            request.save(update_fields=["reopened_by", "reopened_at"])
    return request
