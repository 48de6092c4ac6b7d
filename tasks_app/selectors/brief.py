"""The resume brief: what would a new worker need to continue safely? Of now, and of any point of the past."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from core.clock import database_now
from core.errors import InvalidInput
from tasks_app.carried import tool_is_carried
from tasks_app.models import Call, Event, StopSwitch, Task
from tasks_app.registry import tool_find
from tasks_app.resume import Move, decide
from tasks_app.runtime.facts import facts_of
from tasks_app.runtime.recorded import data_whole
from tasks_app.runtime.view_make import budget_left
from tasks_app.selectors.past import past_of
from tasks_app.status import EXTERNAL_VERSION, OPEN, TERMINAL, CallState, Status

STILL_PENDING = {"approval.answered", "approval.escalated", "approval.overdue"}
UNUSED = {"approval.requested": "pending", "approval.decided": "approved"}


def resume_brief(*, task: Task, at: int | None = None) -> dict[str, Any]:
    """Return the brief as of now, or as of sequence ``at``. Raises InvalidInput for a sequence that does not exist.

    For each open call it names the move that the resume rules demand, by its boundary row. A task that has ended has
    no open call and no next step (None).
    """
    if at is None:
        calls = Call.objects.filter(task=task).order_by("step", "ordinal")
        return _brief(task, list(calls), now=database_now(), stops=_stops(task))
    if not 1 <= at <= task.head_seq:
        raise InvalidInput(f"There is no event {at}; this record has 1 to {task.head_seq}.")
    past = past_of(task, seq=at)
    return _brief(past.task, past.calls, now=past.at, stops=[])


def _brief(task: Task, calls: list[Call], *, now: datetime, stops: list[StopSwitch]) -> dict[str, Any]:
    held = {"holder": task.lease_holder, "epoch": task.lease_epoch, "until": task.lease_until}
    opened = [call for call in calls if call.state in OPEN]
    return {
        "task": str(task.pk),
        "at_seq": task.head_seq,
        "at": now,
        "status": task.status,
        "agent": task.agent,
        "agent_version": task.agent_version,
        "checkpoint": {"seq": task.checkpoint_seq, "step": task.checkpoint_step},
        "next_step": None if task.status in TERMINAL else task.step if opened else task.step + 1,
        "settled_calls": len(calls) - len(opened),
        "open_calls": [] if task.status in TERMINAL else [_call(task, call, now, stops) for call in opened],
        "approvals_held": _approvals(task),
        "budget_left": budget_left(task),
        "waits_for": task.wait or task.open_wait,
        "signals": task.signals,
        "wake_at": task.wake_at,
        "lease": held if task.lease_nonce else None,
        "stops": [{"scope": stop.scope, "name": stop.name, "reason": stop.reason} for stop in stops],
    }


def _call(task: Task, call: Call, now: datetime, stops: Iterable[StopSwitch]) -> dict[str, Any]:
    move = call_move(task, call, now, stopped=any(stop.scope != "tool" or stop.name == call.tool for stop in stops))
    return {
        "name": call.name,
        "tool": call.tool,
        "contract_version": call.contract_version,
        "effect_class": call.effect_class,
        "state": call.state,
        "key": call.key,
        "digest": call.digest,
        "attempts": call.attempts,
        "deadline": call.deadline,
        "must": {"do": move.do, "rule": move.rule, "reason": move.reason, "until": move.until},
    }


def call_move(task: Task, call: Call, now: datetime, *, stopped: bool) -> Move:
    """Return what the resume rules demand of an open call, if a worker claimed the task at ``now``."""
    contract = tool_find(call.tool, call.contract_version)
    kept = {Status.PAUSED, Status.CANCELLING}
    status = Status(task.status) if task.status in kept else Status.RUNNING
    carried = contract is not None or tool_is_carried(call.tool, call.contract_version)
    external = task.agent_version == EXTERNAL_VERSION
    facts = facts_of(call, contract, status=status, stopped=stopped, carried=carried, external=external)
    return decide(facts, now)


def _stops(task: Task) -> list[StopSwitch]:
    """Return the stops over the task, and those over a tool of its open calls."""
    tools = set(Call.objects.filter(task=task, state__in=OPEN).values_list("tool", flat=True))
    return [
        stop
        for stop in StopSwitch.objects.all()
        if stop.scope == "all"
        or (
            stop.workspace_id == task.workspace_id
            and (stop.scope == "workspace" or (stop.scope == "agent" and stop.name == task.agent) or stop.name in tools)
        )
    ]


def _approvals(task: Task) -> list[dict[str, Any]]:
    """Return the approvals that are pending or unused at this point, from the record."""
    found = Event.objects.filter(stream=task.pk, seq__lte=task.head_seq, kind__startswith="approval.").order_by("seq")
    held: dict[str, dict[str, Any]] = {}
    for event in found:
        data = data_whole(event.stream, event.data)
        one = held.setdefault(data["approval"], {"approval": data["approval"], "call": data["name"]})
        decided = data.get("decision") in {None, CallState.APPROVED}
        if event.kind not in STILL_PENDING:
            one["state"] = UNUSED.get(event.kind) if decided else None
        one |= {name: data[name] for name in ("digest", "decide_by", "run_by", "by") if name in data}
    return [one for one in held.values() if one["state"]]
