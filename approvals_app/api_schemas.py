"""What the approvals API takes and gives."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import Field

from approvals_app.models import ApprovalAnswer, ApprovalRequest
from approvals_app.selectors.requests import PAGE, Shelf
from approvals_app.services.decide import MOST_REASON
from approvals_app.services.together import MOST
from approvals_app.status import Answer


class AnswerOut(Schema):
    """One person's answer. ``hasty``: given faster than the card can be read."""

    by: str
    answer: str
    reason: str
    via: str
    at: datetime
    opened_at: datetime | None
    hasty: bool


class ApprovalOut(Schema):
    """One request: what is asked, for which call, until when, and what became of it."""

    id: UUID
    task: UUID
    agent: str
    call: str
    tool: str
    contract_version: int
    digest: str
    line: str
    risk: str
    rule: str
    rule_version: int
    group: str
    quorum: int
    reason_rule: str
    on_expiry: str
    step_up_within: float | None
    status: str
    requested_at: datetime
    decide_by: datetime | None
    overdue_at: datetime | None
    escalate_to: str
    escalated_at: datetime | None
    run_by: datetime | None
    decision: str | None
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    closed_reason: str | None
    consumed_at: datetime | None
    replaces: UUID | None
    editor: str | None
    grant: UUID | None
    answers: list[AnswerOut]


class ApprovalPageOut(Schema):
    """A part of a list; ``next`` goes into ``after`` as it is: what it means may change."""

    approvals: list[ApprovalOut]
    next: str | None


class ListIn(Schema):
    """Which requests to list. ``mine``: only those that this caller may decide now."""

    shelf: Shelf = Shelf.WAITING
    mine: bool = False
    agent: str = Field(default="", max_length=120)
    tool: str = Field(default="", max_length=120)
    rule: str = Field(default="", max_length=80)
    task: UUID | None = None
    after: str = Field(default="", max_length=100, description="The `next` of the part before; empty for the first.")
    limit: int = Field(default=PAGE, ge=1, le=200)


class ReasonIn(Schema):
    """Why; kept in the record."""

    reason: str = Field(default="", max_length=MOST_REASON)


class DecisionIn(ReasonIn):
    """The decision on the call whose digest was read: a decision is bound to it."""

    decision: Answer
    digest: str = Field(min_length=64, max_length=64)


class DecisionOut(ApprovalOut):
    """``new`` is false where this very answer by this very person was there before.

    ``decided`` is false where the answer counts and others are still needed.
    """

    new: bool
    decided: bool


class WaitOut(ApprovalOut):
    """``decided`` is false where nobody has decided within the time that was waited."""

    decided: bool


class EditIn(ReasonIn):
    """The arguments to put in the place of what is proposed: all of them, or those that differ."""

    arguments: dict[str, Any]
    digest: str = Field(min_length=64, max_length=64)


class ItemIn(Schema):
    """One of several, with the digest that was read."""

    id: UUID
    digest: str = Field(min_length=64, max_length=64)


class TogetherIn(ReasonIn):
    """One answer to several requests of one tool and contract."""

    decision: Answer
    approvals: list[ItemIn] = Field(min_length=1, max_length=MOST)


class DoneOut(Schema):
    """What became of one of them; ``code`` and ``detail`` where it was refused."""

    id: UUID
    status: str | None
    code: str | None
    detail: str | None


class TogetherOut(Schema):
    """What became of each."""

    approvals: list[DoneOut]


class GroupOut(Schema):
    """What waits of one agent, tool and rule."""

    agent: str
    tool: str
    rule: str
    count: int
    tasks: int
    oldest: datetime
    newest: datetime
    soonest: datetime | None
    line: str


class GroupsOut(Schema):
    """Every group, largest first."""

    groups: list[GroupOut]


class DenyGroupIn(Schema):
    """Deny everything of one group and stop its agent."""

    agent: str = Field(max_length=120)
    tool: str = Field(max_length=120)
    rule: str = Field(max_length=80)
    reason: str = Field(min_length=1, max_length=500)
    pause: bool = True


class DenyGroupOut(TogetherOut):
    """``stop``: the stop of the agent that was set, or null.

    ``attempts``: what was attempted before it and has no outcome; each may still send until its ``send_by``.
    """

    denied: int
    stop: int | None
    attempts: list[dict[str, Any]]


class FigureOut(Schema):
    """One line of figures; times in seconds."""

    of: str
    name: str
    asked: int
    approved: int
    denied: int
    expired: int
    refusals: float | None
    waited_p50: float | None
    waited_p95: float | None
    looked_p50: float | None
    looked_p95: float | None
    hasty: int
    unopened: int


class FiguresOut(Schema):
    """Figures since a moment: of everything, by tool, by person."""

    since: datetime
    figures: list[FigureOut]


def approval_fields(row: ApprovalRequest) -> dict[str, Any]:
    """Return a request as it is given out."""
    plain = {name: getattr(row, name) for name in _PLAIN}
    return plain | {
        "id": row.pk,
        "task": row.task_id,
        "call": row.name,
        "decision": row.decision or None,
        "decided_by": row.decided_by.get_username() if row.decided_by else None,
        "reason": row.decision_reason or None,
        "closed_reason": row.closed_reason or None,
        "replaces": row.replaces_id,
        "editor": row.editor.get_username() if row.editor else None,
        "grant": row.grant_id,
        "answers": [_answer(one) for one in row.answers.all()],
    }


_PLAIN = [
    name
    for name in ApprovalOut.model_fields
    if name not in {"id", "task", "call", "decision", "decided_by", "reason", "closed_reason"}
    and name not in {"replaces", "editor", "grant", "answers"}
]


def _answer(row: ApprovalAnswer) -> dict[str, Any]:
    return {
        "by": row.user.get_username(),
        "answer": row.answer,
        "reason": row.reason,
        "via": row.via,
        "at": row.at,
        "opened_at": row.opened_at,
        "hasty": row.hasty,
    }
