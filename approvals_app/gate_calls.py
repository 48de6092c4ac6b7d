"""What an agent outside reads of its call: may it be executed, with which arguments, and if not, why."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.words import decided_sentence
from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Call, Task
from tasks_app.runtime.recorded import event_data
from tasks_app.services.external_task import external_owned
from tasks_app.services.external_use import call_resolved
from tasks_app.status import EFFECT_HOLDS, CallState

_STATUS = {
    CallState.ASKED: "waiting",
    CallState.INTENDED: "ready",
    CallState.APPROVED: "ready",
    CallState.ATTEMPTED: "running",
    CallState.OK: "done",
    CallState.UNKNOWN: "unknown",
    CallState.IN_DOUBT: "unknown",
    CallState.UNKNOWN_SETTLED: "unknown",
}


def gate_call(*, workspace: Workspace, task: UUID, name: str, actor: str) -> dict[str, Any]:
    """Return a call of an agent's own task as it is given out. Raises NotFound, Forbidden (another agent's)."""
    row = Task.objects.filter(workspace=workspace, pk=task).first()
    if row is None:
        raise NotFound
    external_owned(row, actor)
    return call_fields(call_resolved(task=task, name=name), asked=name)


def call_fields(call: Call, *, asked: str = "") -> dict[str, Any]:
    """Return a call as it is given out; ``asked``: the name under which it was asked for, if another."""
    intended = event_data(call.task_id, call.intended_seq)
    status = _status(call)
    return {
        "task": call.task_id,
        "call": call.name,
        "asked_as": asked or call.name,
        "tool": call.tool,
        "state": call.state,
        "status": status,
        "decided": status != "waiting",
        "digest": call.digest,
        "key": call.key,
        "arguments": intended["arguments"],
        "edited": bool(intended.get("replaces")),
        "reason": _reason(call, status),
        **_approval(call),
    }


def _status(call: Call) -> str:
    state = CallState(call.state)
    return "done" if state in EFFECT_HOLDS else _STATUS.get(state, "closed")


def _reason(call: Call, status: str) -> str | None:
    """Why a closed call will not be executed."""
    if status != "closed" or not call.settled_seq:
        return None
    said = event_data(call.task_id, call.settled_seq)
    reason = said.get("reason") or (said.get("error") or {}).get("reason")
    return str(reason) if reason else None


def _approval(call: Call) -> dict[str, Any]:
    rows = ApprovalRequest.objects.select_related("decided_by").filter(task=call.task_id, name=call.name)
    row = rows.order_by("pk").last()
    if row is None:
        return dict.fromkeys(("approval", "url", "decision", "decided_by", "decide_by", "run_by"))
    return {
        "approval": row.pk,
        "url": settings.PUBLIC_URL + reverse("approval", args=[row.pk]),
        "decision": decided_sentence(row) or None,
        "decided_by": row.decided_by.get_username() if row.decided_by else None,
        "decide_by": row.decide_by,
        "run_by": row.run_by,
    }
