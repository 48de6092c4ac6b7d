"""``/api/v1/approvals``: list, get, decide, take back, ask again."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from approvals_app.models import ApprovalRequest
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.requests import PAGE, Shelf, approval_find, approvals_page
from approvals_app.services.decide import MOST_REASON, approval_decide
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, Via
from core.access import Right
from core.principal import caller

router = Router()


class ApprovalOut(Schema):
    """One request: what is asked, for which call, until when, and what became of it."""

    id: UUID
    task: UUID
    call: str
    tool: str
    contract_version: int
    digest: str
    line: str
    risk: str
    group: str
    status: str
    requested_at: datetime
    decide_by: datetime | None
    run_by: datetime | None
    decision: str | None
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    closed_reason: str | None
    consumed_at: datetime | None


class ApprovalCardOut(ApprovalOut):
    """A request with everything to read before deciding. ``refusal``: why this caller may not decide, or null."""

    effect_class: str
    arguments: dict[str, Any]
    seen: str | None
    agent_reason: str
    if_approved: str
    if_denied: str
    if_silent: str
    refusal: str | None


class ApprovalPageOut(Schema):
    """A part of a list; ``next`` goes into ``after``."""

    approvals: list[ApprovalOut]
    next: UUID | None


class ListIn(Schema):
    """Which requests to list."""

    shelf: Shelf = Shelf.WAITING
    after: UUID | None = None
    limit: int = Field(default=PAGE, ge=1, le=200)


class ReasonIn(Schema):
    """Why; kept in the record."""

    reason: str = Field(default="", max_length=MOST_REASON)


class DecisionIn(ReasonIn):
    """The decision on the call whose digest was read: a decision is bound to it."""

    decision: Answer
    digest: str = Field(min_length=64, max_length=64)


class DecisionOut(ApprovalOut):
    """``new`` is false where this very answer by this very person was there before."""

    new: bool


@router.get("", response=ApprovalPageOut, summary="List approvals")
def approvals_list(request: HttpRequest, asked: Query[ListIn]) -> dict[str, Any]:
    """Waiting ones by soonest deadline, others latest first."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    page = approvals_page(workspaces=[workspace.pk], shelf=asked.shelf, after=asked.after, limit=asked.limit)
    return {"approvals": [_fields(row) for row in page.rows], "next": page.after}


@router.get("/{uuid:approval}", response=ApprovalCardOut, summary="Get an approval, with the arguments of its call")
def approval_get(request: HttpRequest, approval: UUID) -> dict[str, Any]:
    """Return what a person would read on the card; reading never decides."""
    principal = caller(request, Right.APPROVALS_READ)
    card = approval_card(request=approval_find(workspace=principal.workspace, approval=approval), principal=principal)
    return _fields(card.request) | {
        "effect_class": card.call.effect_class,
        "arguments": card.arguments,
        "seen": card.seen or None,
        "agent_reason": card.reason,
        "if_approved": card.if_approved,
        "if_denied": card.if_denied,
        "if_silent": card.if_silent,
        "refusal": card.refusal or None,
    }


@router.post("/{uuid:approval}/decide", response=DecisionOut, summary="Approve or deny")
def approval_decision(request: HttpRequest, approval: UUID, body: DecisionIn) -> dict[str, Any]:
    """Decide once. 409 names who was first; the same answer again is the same answer. Agents' tokens never decide."""
    principal = caller(request, Right.APPROVALS_READ)
    outcome = approval_decide(
        approval=approval,
        principal=principal,
        decision=body.decision,
        reason=body.reason,
        digest=body.digest,
        via=Via.API,
    )
    return _fields(outcome.request) | {"new": outcome.new}


@router.post("/{uuid:approval}/take-back", response=ApprovalOut, summary="Take an unused approval back")
def approval_take_back(request: HttpRequest, approval: UUID, body: ReasonIn) -> dict[str, Any]:
    """Revoke what has not been used yet; the call will not run."""
    principal = caller(request, Right.APPROVALS_READ)
    return _fields(approval_revoke(approval=approval, principal=principal, reason=body.reason))


@router.post("/{uuid:approval}/ask-again", response=ApprovalOut, summary="Let a denied call be asked again")
def approval_ask_again(request: HttpRequest, approval: UUID, body: ReasonIn) -> dict[str, Any]:
    """Without this, the same proposal is refused with a pointer to the denial."""
    principal = caller(request, Right.APPROVALS_READ)
    return _fields(approval_reopen(approval=approval, principal=principal, reason=body.reason))


def _fields(row: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": row.pk,
        "task": row.task_id,
        "call": row.name,
        "tool": row.tool,
        "contract_version": row.contract_version,
        "digest": row.digest,
        "line": row.line,
        "risk": row.risk,
        "group": row.group,
        "status": row.status,
        "requested_at": row.requested_at,
        "decide_by": row.decide_by,
        "run_by": row.run_by,
        "decision": row.decision or None,
        "decided_by": row.decided_by.get_username() if row.decided_by else None,
        "decided_at": row.decided_at,
        "reason": row.decision_reason or None,
        "closed_reason": row.closed_reason or None,
        "consumed_at": row.consumed_at,
    }
