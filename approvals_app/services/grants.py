"""Standing grants: given, taken back, and what they answer (rule 13)."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F

from approvals_app.deciders import decider_check, decider_refusal
from approvals_app.models import ApprovalAnswer, ApprovalRequest, StandingGrant
from approvals_app.rights import credential_refusal, roles_of
from approvals_app.selectors.record import intended_of
from approvals_app.services.locks import approval_lock
from approvals_app.status import Answer, ApprovalStatus, Via
from core.access import Right, may
from core.clock import database_now
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.record.append import append_administration
from tasks_app.record.events import ApprovalDecided, GrantChanged

LONGEST_DAYS = 90
MOST_USES = 1000


def grant_create(
    *, approval: UUID, principal: Principal, ends_at: datetime, most_uses: int, reason: str
) -> StandingGrant:
    """Grant the exact call of a request for later: same agent, tool, contract and arguments, until ``ends_at``.

    It does not decide the request itself. Raises NotFound, Forbidden (as for a decision), InvalidInput (an end in the
    past or beyond 90 days, no reason, too many uses), Conflict where the rule wants more than one person's plain word.
    """
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        decider_check(request=request, task=task, principal=principal)
        _sensible(ends_at, most_uses, reason, now)
        _grantable(request)
        grant = StandingGrant.objects.create(
            workspace_id=request.workspace_id,
            owner=principal.user,
            agent=task.agent,
            tool=request.tool,
            contract_version=request.contract_version,
            schema_digest=request.schema_digest,
            same_call=request.same_call,
            line=request.line,
            arguments=intended_of(request)["arguments"],
            reason=reason.strip(),
            granted_at=now,
            ends_at=ends_at,
            most_uses=most_uses,
        )
        _record(grant, principal, before=None, after=_facts(grant), reason=reason)
    return grant


def grant_revoke(*, grant: UUID, principal: Principal, reason: str) -> StandingGrant:
    """Take a grant back at once: what it has answered and nobody has used is not admitted any more. Again is the same.

    Whoever may decide approvals here may do it. Raises NotFound, Forbidden, InvalidInput.
    """
    if not reason.strip():
        raise InvalidInput("Say why, for the record; nothing was changed.")
    with transaction.atomic(durable=True):
        row = StandingGrant.objects.select_for_update().filter(pk=grant, workspace=principal.workspace).first()
        if row is None:
            raise NotFound("There is no such grant here, or you may not see it.")
        _may_revoke(row, principal)
        if row.revoked_at is None:
            row.revoked_at, row.revoked_by, row.revoked_reason = database_now(), principal.user, reason.strip()
            row.save(update_fields=["revoked_at", "revoked_by", "revoked_reason"])
            _record(row, principal, before=_facts(row), after=None, reason=reason)
    return row


def grant_answer(*, request: ApprovalRequest, task: Task, now: datetime) -> ApprovalDecided | None:
    """Answer a new request by a grant that covers it, in its owner's name; return the event, or None.

    The uses are counted when a call is admitted, under the grant's lock; here nothing is used up.
    """
    if request.quorum > 1 or request.step_up_within is not None or request.editor_id is not None:
        return None
    grant = _covering(request, task, now)
    if grant is None:
        return None
    run_by = now + timedelta(seconds=request.run_within)
    reason = f"Standing grant: {grant.reason}"
    ApprovalRequest.objects.filter(pk=request.pk, status=ApprovalStatus.REQUESTED).update(
        status=ApprovalStatus.APPROVED,
        decision=Answer.APPROVED,
        decided_by=grant.owner,
        decided_at=now,
        decision_reason=reason,
        decided_via=Via.GRANT,
        run_by=run_by,
        grant=grant,
    )
    ApprovalAnswer.objects.create(
        request=request, user=grant.owner, answer=Answer.APPROVED, reason=reason, via=Via.GRANT, at=now
    )
    return ApprovalDecided(
        approval=str(request.pk),
        name=request.name,
        digest=request.digest,
        decision=Answer.APPROVED,
        by=grant.owner.get_username(),
        reason=reason,
        via=Via.GRANT,
        run_by=run_by.isoformat(),
        grant=str(grant.pk),
    )


def grant_use(*, request: ApprovalRequest, now: datetime) -> str:
    """Count one use of the grant that answered a request, under its lock; say why it does not hold, or "" (T1)."""
    if request.grant_id is None:
        return ""
    grant = StandingGrant.objects.select_for_update().get(pk=request.grant_id)
    refusal = grant_refusal(grant, now)
    if not refusal:
        StandingGrant.objects.filter(pk=grant.pk).update(uses=F("uses") + 1)
    return refusal


def grant_refusal(grant: StandingGrant, now: datetime) -> str:
    """Say why a grant does not hold (any more), or an empty text."""
    if grant.revoked_at is not None:
        return "the standing grant was revoked"
    if grant.ends_at <= now:
        return "the standing grant has ended"
    return "the standing grant is used up" if grant.uses >= grant.most_uses else ""


def _covering(request: ApprovalRequest, task: Task, now: datetime) -> StandingGrant | None:
    grants = StandingGrant.objects.filter(
        workspace=request.workspace_id,
        agent=task.agent,
        tool=request.tool,
        contract_version=request.contract_version,
        schema_digest=request.schema_digest,
        same_call=request.same_call,
        revoked_at=None,
        ends_at__gt=now,
        uses__lt=F("most_uses"),
    ).select_related("owner")
    for grant in grants.order_by("ends_at"):
        if decider_refusal(request=request, task=task, user=grant.owner) is None:
            return grant
    return None


def _sensible(ends_at: datetime, most_uses: int, reason: str, now: datetime) -> None:
    if not reason.strip():
        raise InvalidInput("Say why, for the record; nothing was changed.")
    if not now < ends_at <= now + timedelta(days=LONGEST_DAYS):
        raise InvalidInput(f"A grant ends within {LONGEST_DAYS} days from now; nothing was changed.")
    if not 1 <= most_uses <= MOST_USES:
        raise InvalidInput(f"A grant is for 1 to {MOST_USES} uses; nothing was changed.")


def _grantable(request: ApprovalRequest) -> None:
    if request.quorum > 1:
        raise Conflict("This call needs several people each time, so nobody can grant it alone; nothing was changed.")
    if request.step_up_within is not None:
        raise Conflict("This call needs a second factor each time, so it cannot be granted; nothing was changed.")


def _may_revoke(grant: StandingGrant, principal: Principal) -> None:
    refusal = credential_refusal(principal=principal, right=Right.APPROVALS_DECIDE)
    if refusal or not may(roles_of(user=principal.user, workspace=grant.workspace_id), Right.APPROVALS_DECIDE):
        raise Forbidden(f"{refusal or 'Revoking a grant needs the right approvals:decide.'} Nothing was changed.")


def _facts(grant: StandingGrant) -> dict[str, object]:
    return {
        "grant": str(grant.pk),
        "owner": grant.owner.get_username(),
        "agent": grant.agent,
        "line": grant.line,
        "same_call": grant.same_call,
        "ends_at": grant.ends_at.isoformat(),
        "most_uses": grant.most_uses,
        "uses": grant.uses,
    }


def _record(grant: StandingGrant, principal: Principal, *, before: object, after: object, reason: str) -> None:
    event = GrantChanged(what=f"grant {grant.tool}", before=before, after_change=after, reason=reason)
    append_administration(workspace=grant.workspace_id, events=[event], actor=principal.actor)
