"""What must be as new as the locks: the clock, and what else is asked beside it, read after them in one statement."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Subquery
from django.db.models.functions import Coalesce

from approvals_app.models import ApprovalRequest, ApprovalView
from core.access import Role
from core.clock import ClockTimestamp, database_now
from core.models import Membership, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The moment of an answer: its time, the person's roles, and when they first had the card before them."""

    now: datetime
    roles: frozenset[Role]
    opened_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Using:
    """The moment of an attempt: its time, and how often the workspace's policy has changed."""

    now: datetime
    revision: int


def deciding_now(*, request: ApprovalRequest, user: User) -> Deciding:
    """Read the moment of an answer; an inactive person has no roles."""
    # What is answered without having been opened was read beside the list, where no script said so: it was listed then.
    first = Coalesce("opened_at", "presented_at")
    opened = ApprovalView.objects.filter(request=request.pk, user=user).values_list(first)
    held = Membership.objects.filter(user=user, workspace=request.workspace_id, user__is_active=True)
    rows = list(held.values_list("role", ClockTimestamp(), Subquery(opened)))
    if not rows:
        return Deciding(now=database_now(), roles=frozenset(), opened_at=None)
    return Deciding(now=rows[0][1], roles=frozenset(Role(row[0]) for row in rows), opened_at=rows[0][2])


def using_now(*, request: ApprovalRequest) -> Using:
    """Read the moment of an attempt."""
    of_workspace = Workspace.objects.filter(pk=request.workspace_id)
    now, revision = of_workspace.values_list(ClockTimestamp(), "policy_book__revision")[0]
    return Using(now=now, revision=revision or 0)
