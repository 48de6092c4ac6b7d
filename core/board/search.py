"""One question over everything of a workspace: tasks, effects outside, approvals, tools."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from core.access import Right
from core.board.tools import tool_names
from core.principal import Principal
from tasks_app.models import Call, Task
from tasks_app.selectors.task_rows import rows_of
from tasks_app.selectors.tasks import TaskFilter, tasks_filtered

MOST = 10  # of each kind; the page leads on to the list that has all


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What fits, of each kind the newest first."""

    tasks: list[Any]
    effects: list[Call]
    approvals: list[ApprovalRequest]
    tools: list[str]

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing fits."""
        return not (self.tasks or self.effects or self.approvals or self.tools)


def search(*, principal: Principal, text: str) -> Found:
    """Return what has ``text`` in its title, reference, resource, line or name, or an id that begins with it."""
    text = text.replace("\x00", "")
    found = tasks_filtered(workspace=principal.workspace, filters=TaskFilter(text=text))
    calls = Call.objects.filter(workspace=principal.workspace, first_attempt_at__isnull=False)
    calls = calls.filter(Q(reference__icontains=text) | Q(resource__icontains=text) | Q(key=text))
    return Found(
        tasks=list(rows_of(found).order_by("-pk")[:MOST]),
        effects=list(calls.select_related("task").order_by("-first_attempt_at", "-pk")[:MOST]),
        approvals=_approvals(principal, text),
        tools=[name for name in tool_names() if text.lower() in name.lower()][:MOST],
    )


def _approvals(principal: Principal, text: str) -> list[ApprovalRequest]:
    if not principal.may(Right.APPROVALS_READ):
        return []
    mine = ApprovalRequest.objects.filter(workspace=principal.workspace, line__icontains=text)
    return list(mine.select_related("task").order_by("-requested_at")[:MOST])


def address_of(*, user: User, text: str) -> str | None:
    """Return where a whole id of any of the person's workspaces leads: to a task's page or an approval's."""
    try:
        key = UUID(text)
    except ValueError:
        return None
    if Task.objects.filter(workspace__in=workspaces_of(user=user, right=Right.TASKS_READ), pk=key).exists():
        return reverse("task", args=[key])
    approvals = ApprovalRequest.objects.filter(workspace__in=workspaces_of(user=user, right=Right.APPROVALS_READ))
    if approvals.filter(pk=key).exists():
        return reverse("approval", args=[key])
    return None
