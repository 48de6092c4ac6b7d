"""What the API of policy rules and standing grants takes and gives."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import AwareDatetime, Field

from approvals_app.api_schemas import ReasonIn
from approvals_app.models import PolicyRule, StandingGrant
from approvals_app.policy import Tried


class GrantIn(ReasonIn):
    """A standing grant for the exact call of a request."""

    ends_at: AwareDatetime
    most_uses: int = Field(ge=1)


class GrantOut(Schema):
    """A standing grant."""

    id: UUID
    owner: str
    agent: str
    tool: str
    line: str
    arguments: dict[str, Any]
    reason: str
    granted_at: datetime
    ends_at: datetime
    most_uses: int
    uses: int
    revoked_at: datetime | None


class GrantsOut(Schema):
    """Grants, latest first."""

    grants: list[GrantOut]


class RuleOut(Schema):
    """One version of a rule."""

    name: str
    version: int
    position: int
    condition: str
    outcome: str
    shadow: bool
    group: str
    quorum: int
    reason_rule: str
    decide_within: float | None
    run_within: float | None
    on_expiry: str
    escalate_to: str
    step_up_within: float | None
    second_person: bool
    retired_at: datetime | None


class RulesOut(Schema):
    """Rules in the order in which they are asked."""

    rules: list[RuleOut]


class TrialIn(Schema):
    """A call to try the rules on."""

    tool: str
    arguments: dict[str, Any] = {}
    agent: str = ""
    labels: dict[str, str] = {}


class TriedOut(Schema):
    """What one rule made of it."""

    rule: str
    version: int
    outcome: str
    shadow: bool
    matched: bool
    failed: str


class TrialOut(Schema):
    """Which rule would decide, what it demands, and what each rule made of the call.

    ``cost``: what the call costs, as its tool says, or null. ``cost_failed``: why nobody can tell.
    """

    rule: str
    version: int
    demands: dict[str, Any]
    cost: float | None
    cost_failed: str
    tried: list[TriedOut]


def grant_fields(row: StandingGrant) -> dict[str, Any]:
    """Return a grant as it is given out."""
    plain = {name: getattr(row, name) for name in GrantOut.model_fields if name not in {"id", "owner"}}
    return plain | {"id": row.pk, "owner": row.owner.get_username()}


def rule_fields(row: PolicyRule) -> dict[str, Any]:
    """Return a rule as it is given out."""
    return {name: getattr(row, name) for name in RuleOut.model_fields}


def tried_fields(one: Tried) -> dict[str, Any]:
    """Return what a rule made of a call as it is given out."""
    rule = one.rule
    return {
        "rule": rule.name,
        "version": rule.version,
        "outcome": rule.demand.outcome,
        "shadow": rule.shadow,
        "matched": one.matched,
        "failed": one.failed,
    }
