"""What the API gives out of one card: everything that a person reads on its page before deciding (rule 12)."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema

from approvals_app.api_schemas import ApprovalOut, approval_fields
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.beside import Similar, last_steps, proposal, quorum_of, similar_call, successor
from approvals_app.selectors.card import Card, approval_card
from approvals_app.selectors.deciders import deciders_now
from approvals_app.selectors.record import intended_of
from approvals_app.status import ApprovalStatus
from core.principal import Principal
from tasks_app.models import StopSwitch
from tasks_app.registry import tool_find


class StepOut(Schema):
    """One line of what the agent did last; ``event`` is its sequence in the task's record, where there is one."""

    event: int | None
    at: datetime | None
    text: str


class EarlierOut(Schema):
    """An earlier decision on the same tool."""

    id: UUID
    line: str
    status: str
    decision: str
    decided_by: str | None
    decided_at: datetime | None


class SimilarOut(Schema):
    """The last call of the tool on the same resource that took effect, and what differs, argument by argument."""

    task: UUID
    call: str
    event: int
    approval: UUID | None
    differences: list[dict[str, Any]]


class StandingOut(Schema):
    """A stop that keeps this call from beginning, approved or not."""

    id: int
    scope: str
    name: str
    reason: str


class ApprovalCardOut(ApprovalOut):
    """A request with everything to read before deciding. ``refusal``: why this caller may not decide, or null.

    ``so_far``: how many approvals count, of ``quorum``. ``deciders``: who could answer now; ``never``: who may not, as
    they had a part in it. ``invalid``: why it can no longer be approved although it waits, or null. ``successor``: the
    later request for the same effect. ``cost``: what the call costs, as its tool said when it was asked for.
    """

    effect_class: str
    effect: str
    reversible: bool | None
    cost: float | None
    resource: str
    arguments: dict[str, Any]
    proposed: dict[str, Any] | None
    proposed_differences: list[dict[str, Any]] | None
    editable: list[str]
    seen: str | None
    agent_reason: str
    if_approved: str
    if_denied: str
    if_silent: str
    refusal: str | None
    so_far: int
    deciders: list[str]
    never: list[str]
    invalid: str | None
    stops: list[StandingOut]
    last_steps: list[StepOut]
    earlier: list[EarlierOut]
    similar: SimilarOut | None
    successor: UUID | None


def card_fields(request: ApprovalRequest, principal: Principal) -> dict[str, Any]:
    """Return a card as it is given out."""
    card = approval_card(request=request, principal=principal)
    contract = tool_find(request.tool, request.contract_version)
    before, edited = request.replaces, proposal(card)
    later = None if card.waits else successor(request)
    return approval_fields(request) | {
        "effect_class": card.call.effect_class,
        "effect": card.effect,
        "reversible": contract.reversible if contract else None,
        "cost": request.policy.get("cost"),
        "resource": card.call.resource,
        "arguments": card.arguments,
        "proposed": intended_of(before)["arguments"] if before else None,
        "proposed_differences": [asdict(one) for one in edited.differences] if edited else None,
        "editable": sorted(contract.editable) if contract else [],
        "seen": card.seen or None,
        "agent_reason": card.reason,
        "if_approved": card.if_approved,
        "if_denied": card.if_denied,
        "if_silent": card.if_silent,
        "refusal": card.refusal or None,
        "invalid": card.change or None,
        "stops": [_stop(one) for one in card.stops],
        "last_steps": [
            {"event": row.seq, "at": row.at, "text": str(row.line)} for row in last_steps(task=request.task)
        ],
        "earlier": [_earlier(one) for one in card.earlier],
        "similar": _similar(similar_call(card)),
        "successor": later.pk if later else None,
        **_people(card, principal),
    }


def _people(card: Card, principal: Principal) -> dict[str, Any]:
    waits = card.request.status == ApprovalStatus.REQUESTED
    return {
        "so_far": quorum_of(card, user=principal.user).so_far,
        "deciders": list(deciders_now(card.request).names) if waits else [],
        "never": list(card.never),
    }


def _stop(one: StopSwitch) -> dict[str, Any]:
    return {"id": one.pk, "scope": one.scope, "name": one.name, "reason": one.reason}


def _earlier(one: ApprovalRequest) -> dict[str, Any]:
    return {
        "id": one.pk,
        "line": one.line,
        "status": one.status,
        "decision": one.decision,
        "decided_by": one.decided_by.get_username() if one.decided_by else None,
        "decided_at": one.decided_at,
    }


def _similar(found: Similar | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "task": found.call.task_id,
        "call": found.call.name,
        "event": found.seq,
        "approval": found.approval,
        "differences": [asdict(one) for one in found.differences],
    }
