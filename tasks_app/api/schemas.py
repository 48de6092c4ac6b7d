"""What the API takes and gives. The descriptions are the published documentation."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from tasks_app.models import Call, Event, StopSwitch, Task


class TaskIn(Schema):
    """A task to create. ``request_key`` may come as the header ``Idempotency-Key`` instead."""

    agent: str = Field(max_length=120)
    intent: dict[str, Any]
    title: str = ""
    done_when: list[dict[str, Any]] = []
    labels: dict[str, Any] = {}
    budget: dict[str, Any] = {}
    owner: str = Field("", description="Username of the member who answers for it; by default the caller.")
    request_key: str | None = None


class ReasonIn(Schema):
    """Why an operator does something; it is kept in the record."""

    reason: str


class ResumeIn(Schema):
    """Why a task may go on."""

    reason: str = ""


class MoveIn(Schema):
    """To which version of its agent a task is moved, and why."""

    to_version: int
    reason: str


class SignalIn(Schema):
    """A signal; ``request_key`` may come as the header ``Idempotency-Key`` instead."""

    name: str
    payload: Any = None
    request_key: str | None = None


class SettleIn(Schema):
    """What a person found out about a call in doubt."""

    answer: str = Field(
        description="happened, not_happened, unknown (go on), or run_again: a new call that needs its own approval"
    )
    evidence: str
    reference: str = Field("", description="Of the effect in the outside system.")


class CopyIn(Schema):
    """From which step a copy starts; by default from the last checkpoint."""

    step: int | None = None
    title: str = ""
    request_key: str | None = None


class StopIn(Schema):
    """A stop to set. ``name`` is that of the agent or the tool."""

    scope: str = Field(description="all, workspace, agent or tool")
    name: str = ""
    reason: str


class TaskRow(Schema):
    """A task in a list."""

    id: UUID
    title: str
    status: str
    agent: str
    agent_version: int
    owner: str
    labels: dict[str, Any]
    wait: dict[str, Any] | None
    step: int
    head_seq: int
    parent: UUID | None
    created_at: datetime
    ended_at: datetime | None


class TaskOut(TaskRow):
    """One task."""

    intent: Any
    done_when: list[dict[str, Any]]
    budget: dict[str, Any]
    spent: dict[str, Any]
    losses: int
    loss_place: str
    lease: dict[str, Any] | None
    calls_in_doubt: list[str]


class TaskListOut(Schema):
    """One page of tasks, newest first; pass ``next`` as ``before`` for older ones."""

    items: list[TaskRow]
    next: UUID | None


class EventOut(Schema):
    """One event of a record."""

    seq: int
    kind: str
    at: datetime
    actor: str
    epoch: int | None
    data: dict[str, Any]


class EventsOut(Schema):
    """A window of a record; ``head_seq`` is the last sequence that exists."""

    items: list[EventOut]
    head_seq: int
    has_more: bool


class CallOut(Schema):
    """One call of a task."""

    name: str
    tool: str
    contract_version: int
    effect_class: str
    state: str
    step: int
    ordinal: int
    key: str
    digest: str
    attempts: int
    deadline: datetime | None
    reference: str
    replaced_by: str


class AnswerOut(Schema):
    """What a request led to; ``first`` is false where this key had been used before."""

    task: UUID
    seq: int
    first: bool


class LookedOut(Schema):
    """A worker was asked; what it sees follows in the record after this sequence."""

    after_seq: int


class RecheckOut(Schema):
    """A worker was asked; the evidence follows in the record after this sequence."""

    after_seq: int


class StopOut(Schema):
    """A standing stop, and the earlier attempts without outcome (each may still send until its ``send_by``)."""

    id: int
    scope: str
    name: str
    reason: str
    set_by: str
    set_at: datetime
    attempts: list[dict[str, Any]] = []


def row_out(task: Task) -> dict[str, Any]:
    """Return a task as a list shows it."""
    names = ("id", "title", "status", "agent", "agent_version", "labels", "wait", "step", "head_seq")
    more = {"owner": task.owner.get_username(), "parent": task.parent_id}
    return {name: getattr(task, name) for name in (*names, "created_at", "ended_at")} | more


def task_out(task: Task) -> dict[str, Any]:
    """Return a task whole."""
    names = ("intent", "done_when", "budget", "spent", "losses", "loss_place")
    held = {"holder": task.lease_holder, "epoch": task.lease_epoch, "until": task.lease_until}
    doubt = list(task.calls.filter(state="in_doubt").order_by("step", "ordinal").values_list("name", flat=True))
    own = {name: getattr(task, name) for name in names}
    return row_out(task) | own | {"lease": held if task.lease_nonce else None, "calls_in_doubt": doubt}


def event_out(event: Event) -> dict[str, Any]:
    """Return an event."""
    return {name: getattr(event, name) for name in ("seq", "kind", "at", "actor", "epoch", "data")}


def call_out(call: Call) -> dict[str, Any]:
    """Return a call."""
    return {name: getattr(call, name) for name in CallOut.model_fields}


def stop_out(switch: StopSwitch, attempts: list[Any] | None = None) -> dict[str, Any]:
    """Return a stop."""
    names = ("id", "scope", "name", "reason", "set_at")
    own = {name: getattr(switch, name) for name in names}
    return own | {"set_by": switch.set_by.get_username(), "attempts": attempts or []}
