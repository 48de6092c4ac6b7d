"""``/api/v1/approvals``: policy rules, their test box, and standing grants."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router

from approvals_app.api_policy_schemas import (
    GrantIn,
    GrantOut,
    GrantsOut,
    RulesOut,
    TrialIn,
    TrialOut,
    grant_fields,
    rule_fields,
    tried_fields,
)
from approvals_app.api_schemas import ReasonIn
from approvals_app.selectors.grants import grants_of
from approvals_app.selectors.policy import policy_try, rules_of
from approvals_app.services.grants import grant_create, grant_revoke
from core.access import Right
from core.principal import caller

router = Router()


@router.get("/policy", response=RulesOut, summary="List the rules that hold")
def policy_rules(request: HttpRequest, retired: bool = False) -> dict[str, Any]:
    """In the order in which they are asked; with ``retired`` every version of each. They are written in the console."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    return {"rules": [rule_fields(row) for row in rules_of(workspaces=[workspace.pk], retired=retired)]}


@router.post("/policy/try", response=TrialOut, summary="Try the rules on a call")
def policy_trial(request: HttpRequest, body: TrialIn) -> dict[str, Any]:
    """Say which rule would decide such a call, and change nothing."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    trial = policy_try(
        workspace=workspace,
        tool=body.tool,
        arguments=body.arguments,
        agent=body.agent,
        labels=body.labels,
    )
    return {
        "rule": trial.verdict.rule,
        "version": trial.verdict.version,
        "demands": asdict(trial.verdict.demand),
        "cost": trial.cost.amount,
        "cost_failed": trial.cost.failed,
        "tried": [tried_fields(one) for one in trial.tried],
    }


@router.get("/grants", response=GrantsOut, summary="List standing grants")
def grants_list(request: HttpRequest, standing: bool = False) -> dict[str, Any]:
    """Latest first; ``standing``: only those that still answer calls."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    return {"grants": [grant_fields(row) for row in grants_of(workspaces=[workspace.pk], standing=standing)]}


@router.post("/{uuid:approval}/grant", response=GrantOut, summary="Grant the exact call of a request for later")
def grant_give(request: HttpRequest, approval: UUID, body: GrantIn) -> dict[str, Any]:
    """Let this exact call of this agent run without asking again, until an end and so many times."""
    principal = caller(request, Right.APPROVALS_READ)
    grant = grant_create(
        approval=approval, principal=principal, ends_at=body.ends_at, most_uses=body.most_uses, reason=body.reason
    )
    return grant_fields(grant)


@router.post("/grants/{uuid:grant}/revoke", response=GrantOut, summary="Take a standing grant back")
def grant_take_back(request: HttpRequest, grant: UUID, body: ReasonIn) -> dict[str, Any]:
    """At once: what it has answered and nobody has used is not admitted any more."""
    principal = caller(request, Right.APPROVALS_READ)
    return grant_fields(grant_revoke(grant=grant, principal=principal, reason=body.reason))
