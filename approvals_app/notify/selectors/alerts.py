"""Which alerts stand, and which are over."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from approvals_app.notify.models import Alert
from approvals_app.rights import workspaces_of
from core.access import Right

MOST = 200  # open alerts that one page shows
RECENT = 50  # cleared alerts that one page shows


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAlerts:
    """The newest alerts that stand, and how many there are."""

    rows: Sequence[Alert]
    count: int


def alerts_open(*, user: User, most: int = MOST) -> OpenAlerts:
    """Return the alerts that stand in a person's workspaces and in the installation, the newest first."""
    open_ = alerts_of(user=user).filter(cleared_at=None).order_by("-raised_at")
    rows = list(open_.select_related("workspace")[:most])
    return OpenAlerts(rows=rows, count=len(rows) if len(rows) < most else open_.count())


def alerts_cleared(*, user: User) -> list[Alert]:
    """Return the alerts that were over last."""
    over = alerts_of(user=user).exclude(cleared_at=None).order_by("-cleared_at")
    return list(over.select_related("workspace")[:RECENT])


def alerts_of(*, user: User) -> QuerySet[Alert]:
    """Select the raised alerts that a person may see; those of the whole installation concern everybody."""
    return alerts_in(workspaces=workspaces_of(user=user, right=Right.TASKS_READ))


def alerts_in(*, workspaces: Sequence[UUID]) -> QuerySet[Alert]:
    """Select the raised alerts of these workspaces and of the whole installation; none where there is no workspace."""
    if not workspaces:
        return Alert.objects.none()
    return Alert.objects.filter(Q(workspace__in=workspaces) | Q(workspace=None), raised_at__isnull=False)
