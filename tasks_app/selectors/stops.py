"""Stops that stand, and which attempts were committed before them and have no outcome yet (rule 14)."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from core.models import Workspace
from tasks_app.models import Call, Event, StopSwitch
from tasks_app.status import CallState

MAY_ACT = (CallState.ATTEMPTED, CallState.STARTED, CallState.UNKNOWN)


def stops_in(*, workspaces: Sequence[UUID]) -> list[StopSwitch]:
    """Return the stops that stand in these workspaces, those over everything included; the oldest first."""
    return list(_standing(Q(workspace__in=workspaces)))


def stops_over(*, workspace: UUID, agent: str, tool: str) -> list[StopSwitch]:
    """Return the stops that keep this agent's calls of this tool from beginning."""
    named = Q(scope="workspace") | Q(scope="agent", name=agent) | Q(scope="tool", name=tool)
    return list(_standing(Q(named, workspace=workspace)))


def stop_visible(workspace: Workspace) -> Q:
    """Return which stops are seen from a workspace: its own and those over everything."""
    return Q(workspace=workspace) | Q(scope="all")


def attempts_before(switch: StopSwitch, *, workspaces: Sequence[UUID] | None = None) -> list[Mapping[str, Any]]:
    """Return the attempts in a stop's scope that have no outcome; each may still send until its ``send_by``.

    ``workspaces``: those that the reader may see; None where all of them are meant.
    """
    calls = Call.objects.filter(state__in=MAY_ACT).order_by("task_id", "step", "ordinal")
    if workspaces is not None:
        calls = calls.filter(workspace__in=workspaces)
    if switch.scope != "all":
        calls = calls.filter(workspace=switch.workspace)
    if switch.scope == "agent":
        calls = calls.filter(task__agent=switch.name)
    if switch.scope == "tool":
        calls = calls.filter(tool=switch.name)
    attempted = Event.objects.filter(stream=OuterRef("task_id"), seq=OuterRef("attempted_seq"))
    return [_attempt(call) for call in calls.annotate(attempted=Subquery(attempted.values("data")[:1]))]


def _standing(where: Q) -> QuerySet[StopSwitch]:
    return StopSwitch.objects.filter(where | Q(scope="all")).select_related("set_by", "workspace").order_by("set_at")


def _attempt(call: Any) -> Mapping[str, Any]:
    said = call.attempted or {}
    return {
        "task": str(call.task_id),
        "call": call.name,
        "tool": call.tool,
        "attempt": call.attempts,
        "send_by": said.get("send_by"),
        "deadline": said.get("deadline"),
    }
