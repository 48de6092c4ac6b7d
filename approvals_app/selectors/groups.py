"""Waiting requests by agent, tool and rule: one runaway is one line on the desk."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Min

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What waits of one agent, tool and rule. ``tasks``: how many tasks ask; ``line``: one of them, in words."""

    workspace: UUID
    agent: str
    tool: str
    rule: str
    count: int
    tasks: int
    oldest: datetime
    newest: datetime
    soonest: datetime | None
    line: str


def approvals_groups(*, workspaces: Sequence[UUID], at_least: int = 1) -> list[Group]:
    """Return the groups with so many members, largest first."""
    by = ("workspace", "agent", "tool", "rule")
    waiting = ApprovalRequest.objects.filter(workspace__in=workspaces, status=ApprovalStatus.REQUESTED)
    rows = waiting.values(*by).annotate(
        count=Count("pk"),
        tasks=Count("task", distinct=True),
        oldest=Min("requested_at"),
        newest=Max("requested_at"),
        soonest=Min("decide_by"),
        sample=Min("line"),
    )
    large = rows.filter(count__gte=at_least).order_by("-count", *by)
    return [Group(**{name: row[name] for name in row if name != "sample"}, line=row["sample"]) for row in large]
