"""Many at once: calls that are alike and harmless, or everything that one runaway asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from approvals_app.errors import NotTogether
from approvals_app.models import ApprovalRequest
from approvals_app.rights import credential_refusal
from approvals_app.services.decide import Outcome, approval_decide
from approvals_app.status import Answer, ApprovalStatus, Via
from core.access import Right
from core.errors import Forbidden, HandrailError, InvalidInput, NotFound
from core.principal import Principal
from tasks_app.services.stops import Stop, stop_set

MOST = 100  # requests in one act


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one of several: its outcome, or why it was refused."""

    approval: UUID
    outcome: Outcome | None = None
    refusal: HandrailError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """What "deny all and pause this agent" did. ``stop``: the agent's stop, with the attempts committed before it."""

    done: Sequence[Done]
    stop: Stop | None

    @property
    def count(self) -> int:
        """How many were denied by this act."""
        return sum(1 for one in self.done if one.outcome is not None and one.outcome.new)


def approvals_decide_together(
    *, principal: Principal, items: Sequence[tuple[UUID, str]], decision: Answer, reason: str, via: Via
) -> list[Done]:
    """Answer several requests, each listed with the digest that was read; each is decided on its own.

    All must be of one tool, contract version and schema; to approve, of low risk and without a second factor. Raises
    NotFound (one is unknown here), NotTogether, InvalidInput (none, or more than 100).
    """
    if not 1 <= len(items) <= MOST:
        raise InvalidInput(f"Choose 1 to {MOST} requests; nothing was changed.")
    rows = list(ApprovalRequest.objects.filter(workspace=principal.workspace, pk__in=[one for one, _ in items]))
    if len(rows) != len({one for one, _ in items}):
        raise NotFound("One of these approvals is not here, or you may not see it; nothing was changed.")
    _alike(rows, decision)
    size, sizes = sum(row.size for row in rows), {row.pk: row.size for row in rows}
    return [
        _one(principal, approval, decision, reason, digest, via, beside=size - sizes[approval])
        for approval, digest in items
    ]


def approvals_deny_group(
    *, principal: Principal, agent: str, tool: str, rule: str, reason: str, via: Via, pause: bool = True
) -> Denied:
    """Deny everything of one agent, tool and rule that waits, and stop the agent: one act with one reason.

    The stop comes first, so that nothing new is asked for meanwhile; lifting it lets the agent go on. Raises Forbidden
    (no right to decide, or to stop), InvalidInput (no reason).
    """
    refusal = credential_refusal(principal=principal, right=Right.APPROVALS_DECIDE)
    if refusal or not principal.may(Right.APPROVALS_DECIDE):
        raise Forbidden(f"{refusal or 'This needs the right approvals:decide.'} Nothing was changed.")
    if not reason.strip():
        raise InvalidInput("Say why, for the record and for the agent; nothing was changed.")
    stop = _stop(principal, agent, reason) if pause else None
    waiting = ApprovalRequest.objects.filter(
        workspace=principal.workspace, agent=agent, tool=tool, rule=rule, status=ApprovalStatus.REQUESTED
    )
    rows = list(waiting.order_by("pk").values_list("pk", "digest"))
    done = [_one(principal, approval, Answer.DENIED, reason, digest, via, beside=None) for approval, digest in rows]
    return Denied(done=done, stop=stop)


def _stop(principal: Principal, agent: str, reason: str) -> Stop:
    who = principal.require(Right.STOPS_SET)
    return stop_set(
        workspace=who.workspace, scope="agent", name=agent, reason=reason[:500], user=who.user, actor=who.actor
    )


def _alike(rows: Sequence[ApprovalRequest], decision: Answer) -> None:
    if len({(row.tool, row.contract_version, row.schema_digest) for row in rows}) > 1:
        raise NotTogether
    if decision == Answer.DENIED:
        return
    careful = [row for row in rows if row.risk != "low" or row.step_up_within is not None]
    if careful:
        raise NotTogether(approvals=[str(row.pk) for row in careful])


def _one(
    principal: Principal, approval: UUID, decision: Answer, reason: str, digest: str, via: Via, *, beside: int | None
) -> Done:
    try:
        outcome = approval_decide(
            approval=approval,
            principal=principal,
            decision=decision,
            reason=reason,
            digest=digest,
            via=via,
            beside=beside,
        )
    except HandrailError as refusal:
        return Done(approval=approval, refusal=refusal)
    return Done(approval=approval, outcome=outcome)
