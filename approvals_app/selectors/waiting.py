"""Which approvals wait for a person: the shelf Mine, and the number in every page's bar and title."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from approvals_app.models import ApprovalAnswer, ApprovalRequest, ApproverGroup
from approvals_app.rights import workspaces_of
from approvals_app.status import EVERYONE, ApprovalStatus, OnExpiry
from core.access import Right
from core.clock import ClockTimestamp


def approvals_decidable(*, user: User, workspaces: Sequence[UUID] | None = None) -> QuerySet[ApprovalRequest]:
    """Return the requests that this person may decide now: in time, with the right, in the group that is asked, not
    their own (rule 6), and not answered by them already. ``workspaces``: where they have it, if that was just read.
    """
    if workspaces is None:
        workspaces = workspaces_of(user=user, right=Right.APPROVALS_DECIDE)
    groups = ApproverGroup.objects.filter(members=user, workspace=OuterRef("workspace"), name=OuterRef("group"))
    return ApprovalRequest.objects.filter(
        Q(decide_by=None) | Q(decide_by__gt=ClockTimestamp()) | ~Q(on_expiry=OnExpiry.DENY),
        Q(group=EVERYONE) | Exists(groups),
        ~Exists(ApprovalAnswer.objects.filter(request=OuterRef("pk"), user=user)),
        status=ApprovalStatus.REQUESTED,
        workspace__in=workspaces,
    ).exclude(policy__contains={"never": [{"user": user.get_username()}]})


def waiting_fingerprint() -> tuple[object, ...] | None:
    """Return what differs whenever somebody's count may; None while nothing waits for anybody.

    Deadlines and rights change counts by themselves: whoever goes by this still counts anew now and then.
    """
    waiting = ApprovalRequest.objects.filter(status=ApprovalStatus.REQUESTED)
    found = waiting.aggregate(n=Count("pk"), last=Max("requested_at"), passed_on=Max("escalated_at"))
    if not found["n"]:
        return None
    answers = ApprovalAnswer.objects.filter(request__status=ApprovalStatus.REQUESTED).aggregate(n=Count("pk"))
    return (*found.values(), *answers.values())


def approvals_waiting_count(*, user: User, workspaces: Sequence[UUID] | None = None) -> int:
    """Count the requests that this person may decide now. ``workspaces``: see ``approvals_decidable``."""
    return approvals_decidable(user=user, workspaces=workspaces).count()
