"""When a person saw a request: in a list, as a card, on its review page. Looking decides nothing (rule 11)."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models.functions import Coalesce

from approvals_app.models import ApprovalView
from core.clock import ClockTimestamp


def approvals_presented(*, approvals: Sequence[UUID], user: User) -> None:
    """Note when these were first listed for a person."""
    _note(approvals, user, "presented_at")


def approval_opened(*, approval: UUID, user: User) -> None:
    """Note when a person first had the card before them."""
    approvals_opened(approvals=[approval], user=user)


def approvals_opened(*, approvals: Sequence[UUID], user: User) -> None:
    """Note when a person first had the cards of several before them, each whole."""
    _note(approvals, user, "presented_at", "opened_at")


def approval_reviewed(*, approval: UUID, user: User) -> None:
    """Note when a person first had the whole of it before them, on the review page."""
    _note([approval], user, "presented_at", "opened_at", "reviewed_at")


def _note(approvals: Sequence[UUID], user: User, *moments: str) -> None:
    views = ApprovalView.objects.filter(user=user, request__in=approvals)
    missing = views.filter(**{f"{moments[-1]}__isnull": False}).values_list("request_id", flat=True)
    new = set(approvals) - set(missing)
    if not new:
        return
    # A second tab may have written the row meanwhile: then its moments stand.
    ApprovalView.objects.bulk_create(
        [ApprovalView(request_id=approval, user=user) for approval in sorted(new)], ignore_conflicts=True
    )
    first = {moment: Coalesce(moment, ClockTimestamp()) for moment in moments}
    views.filter(request__in=new).update(**first)
