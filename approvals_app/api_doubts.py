"""``/api/v1/approvals/doubts``: the calls whose outcome nobody can tell by machine; a person answers for each."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from approvals_app.selectors.doubts import doubts_count, doubts_part
from core.access import Right
from core.clock import database_now
from core.principal import caller
from tasks_app.models import Call
from tasks_app.services.settle import not_before

router = Router()


class DoubtOut(Schema):
    """A call in doubt. ``not_before``: until then it may still arrive, and nobody may say that it did not happen.

    Its attempts, late receipts and look-ups are in the events of its task; it is answered, looked up and repeated under
    ``/tasks/{task}/calls/{call}``.
    """

    task: UUID
    call: str
    tool: str
    agent: str
    title: str
    resource: str
    attempted_at: datetime | None
    reason: str | None
    not_before: datetime | None


class DoubtsOut(Schema):
    """A part of the calls in doubt, the oldest attempt first; ``count`` is of all, ``next`` goes into ``after``."""

    doubts: list[DoubtOut]
    count: int
    next: int | None


@router.get("/doubts", response=DoubtsOut, summary="List the calls whose outcome is unknown")
def doubts_list(request: HttpRequest, after: Annotated[int, Field(ge=0, lt=2**63)] | None = None) -> dict[str, Any]:
    """List them; one answer holds at most a hundred."""
    workspaces = [caller(request, Right.APPROVALS_READ).workspace.pk]
    now, (rows, onward) = database_now(), doubts_part(workspaces=workspaces, after=after)
    count = doubts_count(workspaces=workspaces) if onward or after else len(rows)
    return {"doubts": [_fields(row, now) for row in rows], "count": count, "next": onward}


def _fields(call: Call, now: datetime) -> dict[str, Any]:
    moment = not_before(call)
    return {
        "task": call.task_id,
        "call": call.name,
        "tool": call.tool,
        "agent": call.task.agent,
        "title": call.task.title,
        "resource": call.resource,
        "attempted_at": call.attempted_at,  # type: ignore[attr-defined]  # annotated by the selector
        "reason": call.doubt,  # type: ignore[attr-defined]  # annotated by the selector
        "not_before": moment if moment and moment > now else None,
    }
