"""What was sent, what waits, and what was given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Channel, Delivery
from core.models import Workspace

ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPage:
    """One page of deliveries, the newest first. ``newer``, ``older``: keys of its neighbours, or None."""

    rows: Sequence[Delivery]
    newer: UUID | None
    older: UUID | None


def deliveries(
    *, workspace: Workspace, state: DeliveryState | None = None, before: UUID | None = None, after: UUID | None = None
) -> DeliveryPage:
    """Return a page: the newest, those older than ``before``, or those newer than ``after``."""
    found = Delivery.objects.filter(workspace=workspace).select_related("channel", "replayed_by")
    if state:
        found = found.filter(state=state)
    if after:
        rows = list(found.filter(pk__gt=after).order_by("pk")[: ROWS + 1])[::-1]
        rows, more_newer = rows[-ROWS:], len(rows) > ROWS
        return DeliveryPage(rows=rows, newer=_key(rows, 0) if more_newer else None, older=_key(rows, -1))
    rows = list(_until(found, before).order_by("-pk")[: ROWS + 1])
    rows, more_older = rows[:ROWS], len(rows) > ROWS
    return DeliveryPage(
        rows=rows, newer=_key(rows, 0) if before else None, older=_key(rows, -1) if more_older else None
    )


def delivery_counts(*, workspace: Workspace) -> dict[str, int]:
    """Count the deliveries by state."""
    rows = Delivery.objects.filter(workspace=workspace).values_list("state").annotate(n=Count("pk"))
    return dict(rows.order_by("state"))


def channels_of(*, workspace: Workspace) -> list[Channel]:
    """Return the channels of a workspace."""
    return list(Channel.objects.filter(workspace=workspace).order_by("name"))


def _until(found: QuerySet[Delivery], before: UUID | None) -> QuerySet[Delivery]:
    return found.filter(pk__lt=before) if before else found


def _key(rows: Sequence[Delivery], place: int) -> UUID | None:
    return rows[place].pk if rows else None
