"""What the tests of the fourteen rules share: a request as it is now, its clocks, its use, an edit, a grant."""

from datetime import timedelta

from approvals_app.models import ApprovalRequest, StandingGrant
from approvals_app.services.edit import approval_edit
from approvals_app.services.grants import grant_create
from approvals_app.status import Via
from core.clock import ClockTimestamp, database_now
from tests.desk import Desk, as_person, attempt, claim


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=request.pk)


def past(request: ApprovalRequest, column: str) -> None:
    ApprovalRequest.objects.filter(pk=request.pk).update(**{column: ClockTimestamp() - timedelta(seconds=1)})


def used(request: ApprovalRequest, **more: object) -> bool:
    return attempt(request.task_id, request.name, claim(request.task), **more).admitted


def edit(request: ApprovalRequest, user, *, digest=None, principal=None, reason="too much", **arguments):
    return approval_edit(
        approval=request.pk,
        principal=principal or as_person(user, request.workspace),
        arguments=arguments,
        reason=reason,
        digest=digest or request.digest,
        via=Via.PAGE,
    )


def grant(request: ApprovalRequest, desk: Desk, *, uses=2, seconds=600, principal=None) -> StandingGrant:
    return grant_create(
        approval=request.pk,
        principal=principal or as_person(desk.rhea, desk.workspace),
        ends_at=database_now() + timedelta(seconds=seconds),
        most_uses=uses,
        reason="nightly",
    )
