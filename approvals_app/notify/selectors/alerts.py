"""Which alerts stand, and which are over."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Max, Min, Q, QuerySet

from approvals_app.notify.models import Alert
from approvals_app.rights import workspaces_of
from core.access import Right

MOST = 200  # alerts in one answer
SHOWN = 100  # open alerts that one page shows; their ids are in the address of its socket
RECENT = 50  # cleared alerts that one page shows


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAlerts:
    """The newest alerts that stand, and how many there are."""

    rows: Sequence[Alert]
    count: int


def alerts_open(*, user: User, most: int = SHOWN) -> OpenAlerts:
    """Return the alerts that stand in a person's workspaces and in the installation, the newest first."""
    open_ = alerts_of(user=user).filter(cleared_at=None).order_by("-raised_at")
    rows = list(open_.select_related("workspace")[:most])
    return OpenAlerts(rows=rows, count=len(rows) if len(rows) < most else open_.count())


def alerts_again(*, user: User, ids: Sequence[UUID]) -> list[Alert]:
    """Return these alerts as they are now, those that are over among them."""
    return list(alerts_of(user=user).filter(pk__in=ids).order_by("-raised_at"))


def alerts_newer(*, user: User, shown: Sequence[UUID]) -> int:
    """Count the alerts that stand and are not among those a page shows; a long list leaves out the oldest."""
    standing = alerts_of(user=user).filter(cleared_at=None).exclude(pk__in=shown)
    oldest = Alert.objects.filter(pk__in=shown).aggregate(at=Min("raised_at"))["at"]
    return (standing.filter(raised_at__gte=oldest) if oldest else standing).count()


def alerts_count(*, user: User) -> int:
    """Count the alerts that stand in a person's workspaces and in the installation."""
    return alerts_count_in(workspaces=workspaces_of(user=user, right=Right.TASKS_READ))


def alerts_count_in(*, workspaces: Sequence[UUID]) -> int:
    """Count the alerts that stand in these workspaces and in the installation."""
    return alerts_in(workspaces=workspaces).filter(cleared_at=None).count()


def alerts_fingerprint() -> tuple[object, ...] | None:
    """Return what differs whenever somebody's count may; None while no alert stands."""
    standing = Alert.objects.filter(cleared_at=None, raised_at__isnull=False)
    found = standing.aggregate(n=Count("pk"), last=Max("raised_at"))
    return tuple(found.values()) if found["n"] else None


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
