"""A person takes an unused approval back."""

from uuid import UUID

from django.db import transaction

from approvals_app.deciders import decider_check
from approvals_app.models import ApprovalRequest
from approvals_app.services.close import request_close_and_append
from approvals_app.services.locks import approval_lock
from approvals_app.services.woken import task_wake
from approvals_app.status import ApprovalStatus
from approvals_app.words import taken_sentence
from core.errors import Conflict
from core.principal import Principal


def approval_revoke(*, approval: UUID, principal: Principal, reason: str) -> ApprovalRequest:
    """Take back an approval that has not been used; the call will not run and the agent is told.

    Raises NotFound, Forbidden (as for a decision), Conflict where there is nothing unused to take back.
    """
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        decider_check(request=request, task=task, principal=principal)
        if request.status != ApprovalStatus.APPROVED:
            raise Conflict(taken_sentence(request), state=request.status)
        name = principal.user.get_username()
        seq = request_close_and_append(
            task,
            request,
            to=ApprovalStatus.REVOKED,
            now=now,
            reason=reason,
            actor=f"person:{name}",
            by=name,
        )
    task_wake(task=task, call=request.name, seq=seq)
    return request
