"""Which approvals wait for a person: the shelf Mine, and the number in every page's bar and title."""

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.status import ApprovalStatus
from core.access import Right
from core.clock import ClockTimestamp


def approvals_decidable(*, user: User) -> QuerySet[ApprovalRequest]:
    """Return the requests that this person may decide now: in time, with the right, and not their own (rule 6)."""
    return ApprovalRequest.objects.filter(
        Q(decide_by=None) | Q(decide_by__gt=ClockTimestamp()),
        status=ApprovalStatus.REQUESTED,
        workspace__in=workspaces_of(user=user, right=Right.APPROVALS_DECIDE),
    ).exclude(policy__contains={"never": [{"user": user.get_username()}]})


def approvals_waiting_count(*, user: User) -> int:
    """Count the requests that this person may decide now."""
    return approvals_decidable(user=user).count()
