"""What people do at a desk, through the services that page and API use."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest, ApproverGroup, PolicyRule
from approvals_app.policy import Demand
from approvals_app.services.decide import approval_decide
from approvals_app.services.policy import group_set, rule_write
from approvals_app.status import Answer, Outcome, Via
from core.access import Role
from core.models import Membership, Workspace
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.services.cancel import task_cancel
from tests.desk.people import Desk


def as_person(user: User, workspace: Workspace, **more: Any) -> Principal:
    roles = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return Principal(user=user, workspace=workspace, roles=frozenset(map(Role, roles)), **more)


def decide(
    request: ApprovalRequest,
    user: User,
    decision: Answer = Answer.APPROVED,
    *,
    reason: str = "",
    digest: str | None = None,
    **more: Any,
) -> Any:
    return approval_decide(
        approval=request.pk,
        principal=as_person(user, request.workspace, **more),
        decision=decision,
        reason=reason,
        digest=request.digest if digest is None else digest,
        via=Via.API,
    )


def group(desk: Desk, name: str, *members: User) -> ApproverGroup:
    """Make a group that rules may ask."""
    return group_set(workspace=desk.workspace, name=name, members=members, actor="person:ada")


def rule(
    desk: Desk, name: str, condition: str, outcome: Outcome = Outcome.ASK, *, position: int = 100, **more: Any
) -> PolicyRule:
    """Write a rule, or its next version. ``shadow``, or what it demands."""
    shadow = more.pop("shadow", False)
    return rule_write(
        workspace=desk.workspace,
        name=name,
        condition=condition,
        demand=Demand(outcome=outcome, **more),
        position=position,
        shadow=shadow,
        actor="person:ada",
    )


def cancel(task_id: UUID, *, actor: str = "person:silas") -> None:
    """Cancel a task as an operator does: its approvals go in the same transaction (rule 10)."""
    task = Task.objects.select_related("workspace").get(pk=task_id)
    task_cancel(workspace=task.workspace, task=task_id, actor=actor, reason="not needed")
