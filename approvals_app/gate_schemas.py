"""What the gate API takes and gives. The descriptions are the published documentation."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Field, Schema

from tasks_app.services.external_use import SHORTEST_KEY
from tasks_app.services.intake import KEY_LIMIT


class OpenIn(Schema):
    """A task for several calls of one piece of work. ``request_key`` may come as the header ``Idempotency-Key``."""

    title: str = Field(max_length=200)
    intent: dict[str, Any] = {}
    request_key: str = Field("", max_length=KEY_LIMIT)


class GateTaskOut(Schema):
    """A task whose agent runs outside."""

    id: UUID
    agent: str
    title: str
    status: str


class FinishIn(Schema):
    """The agent has finished; ``failed`` where it gave up."""

    outcome: Literal["done", "failed"] = "done"
    summary: str = ""


class RequestIn(Schema):
    """A call that the agent wants to execute itself. The same request key and body is the same request."""

    tool: str = Field(max_length=120)
    arguments: dict[str, Any] = {}
    task: UUID | None = Field(None, description="An open task; without it, one is opened for this call alone.")
    name: str = Field("", max_length=100, description="Stands for the effect, once in its task; by default the tool.")
    title: str = Field("", max_length=200, description="Of the task that is opened for this call alone.")
    reason: str = Field("", description="Why, in the agent's own words; shown as such to whoever decides.")
    request_key: str = Field("", max_length=KEY_LIMIT, description="Or the header Idempotency-Key; one is required.")


class GateCallOut(Schema):
    """A call. ``arguments`` are the final ones: a person may have edited them (``edited``); run these or nothing."""

    task: UUID
    call: str
    asked_as: str
    tool: str
    state: str
    status: Literal["waiting", "ready", "running", "done", "unknown", "closed"]
    decided: bool = Field(description="Nobody needs to be waited for any more.")
    digest: str
    key: str = Field(description="Idempotency key: send it along where the outside system takes one.")
    arguments: dict[str, Any]
    edited: bool
    reason: str | None
    approval: UUID | None
    url: str | None = Field(description="Where a person decides; a link, never a decision.")
    decision: str | None
    decided_by: str | None
    decide_by: datetime | None
    run_by: datetime | None


class UseIn(Schema):
    """``use_key``: new for each execution that would begin; repeat it only where the answer was lost."""

    use_key: str = Field(min_length=SHORTEST_KEY, max_length=KEY_LIMIT)


class UseOut(Schema):
    """The right to execute one call once: exactly these arguments, until the deadline."""

    task: UUID
    call: str
    arguments: dict[str, Any]
    digest: str
    key: str
    token: str = Field(description="Execution token: a secret, needed for the report; valid once.")
    deadline: datetime
    begin_within: float = Field(description="Seconds in which to begin, or never; count from before this was asked.")
    seconds: float = Field(description="Until the deadline; count from before this was asked.")


class ReportIn(Schema):
    """What became of it. ``failed``: definitely no effect; whoever is not sure says ``unknown``."""

    token: str = Field(max_length=200)
    outcome: Literal["succeeded", "failed", "unknown"]
    result: Any = None
    reference: str = Field("", description="Of the effect in the outside system.")
    reason: str = Field("", max_length=2000)


class ReportOut(GateCallOut):
    """``late``: it came after the deadline and is kept as a late receipt."""

    late: bool
