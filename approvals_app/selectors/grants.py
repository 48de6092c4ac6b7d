"""Standing grants as they are listed."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F

from approvals_app.models import StandingGrant
from core.clock import ClockTimestamp


def grants_of(*, workspaces: Sequence[UUID], standing: bool = False) -> list[StandingGrant]:
    """List grants, latest first; ``standing``: only those that still answer calls."""
    rows = StandingGrant.objects.filter(workspace__in=workspaces).select_related("owner", "revoked_by", "workspace")
    if standing:
        rows = rows.filter(revoked_at=None, ends_at__gt=ClockTimestamp(), uses__lt=F("most_uses"))
    return list(rows.order_by("-pk")[:500])
