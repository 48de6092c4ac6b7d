"""A task as it was at a sequence: its events read once more, as far as a resume brief needs them.

The rows it returns are never saved.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tasks_app.models import Call, Event, Task
from tasks_app.runtime.recorded import data_whole
from tasks_app.status import CallState, Status

_CALL_STATES = {
    "call.verified": CallState.VERIFIED,
    "call.in_doubt": CallState.IN_DOUBT,
    "call.withdrawn": CallState.WITHDRAWN,
    "approval.requested": CallState.ASKED,
    "approval.expired": CallState.EXPIRED,
    "approval.lapsed": CallState.LAPSED,
    "approval.voided": CallState.VOIDED,
    "approval.revoked": CallState.VOIDED,
}
_STATUSES = {
    "task.created": Status.QUEUED,
    "task.paused": Status.PAUSED,
    "task.cancel_requested": Status.CANCELLING,
    "task.cancelled": Status.CANCELLED,
    "task.failed": Status.FAILED,
    "task.quarantined": Status.QUARANTINED,
    "task.completed": Status.COMPLETED,
    "task.unverified": Status.UNVERIFIED,
}
_SETTLED = {
    "happened": CallState.HAPPENED,
    "not_happened": CallState.NOT_HAPPENED,
    "unknown": CallState.UNKNOWN_SETTLED,
    "run_again": CallState.WITHDRAWN,
}


class Past:
    """What the events said so far, as rows of a task and of its calls."""

    def __init__(self, task: Task, settled: Mapping[str, int | None]) -> None:
        self.settled = settled
        self.calls: dict[str, Call] = {}
        self.task = Task(
            id=task.id,
            workspace_id=task.workspace_id,
            owner_id=task.owner_id,
            agent=task.agent,
            title=task.title,
            intent=task.intent,
            budget=task.budget,
            created_at=task.created_at,
            wake_at=None,
        )
        self.at: datetime = task.created_at

    def apply(self, event: Event) -> None:
        """Take one event in."""
        self.at, self.task.head_seq = event.at, event.seq
        # Only wide data is moved to a blob as a whole; large values of single fields are not needed here.
        data = data_whole(event.stream, event.data) if "$blob" in event.data else event.data
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event, data)
        if event.kind in _STATUSES:
            self._status(_STATUSES[event.kind])
        if event.kind in _CALL_STATES and data.get("name") in self.calls:
            self.calls[data["name"]].state = _CALL_STATES[event.kind]

    def _status(self, status: Status) -> None:
        self.task.status = status
        if status in {Status.CANCELLED, Status.FAILED, Status.COMPLETED, Status.UNVERIFIED}:
            self._unleased()

    def _unleased(self) -> None:
        self.task.lease_holder, self.task.lease_nonce, self.task.lease_until = "", None, None


def past_of(task: Task, events: Iterable[Event], *, settled: Mapping[str, int | None]) -> Past:
    """Return the task as of the last of ``events`` (all of its events from the first, in order).

    ``settled``: call name -> sequence that settled it, if any; an ok outcome alone does not say whether the contract
    has a read-back that follows.
    """
    past = Past(task, settled)
    for event in events:
        past.apply(event)
    return past


def _created(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.agent_version = data["agent_version"]


def _claimed(past: Past, event: Event, data: dict[str, Any]) -> None:
    task = past.task
    task.lease_holder, task.lease_nonce, task.lease_epoch = data["worker"], data["nonce"], event.epoch or 0
    task.wait = None
    if task.status not in {Status.PAUSED, Status.CANCELLING}:
        task.status = Status.RUNNING


def _let_go(past: Past, event: Event, data: dict[str, Any]) -> None:
    past._unleased()
    if past.task.status == Status.RUNNING:
        past.task.status = Status.WAITING if past.task.wait or past.task.open_wait else Status.QUEUED
    if any(call.state == CallState.IN_DOUBT for call in past.calls.values()) and past.task.status == Status.QUEUED:
        past.task.status = Status.IN_DOUBT


def _resumed(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.status = Status.RUNNING if past.task.lease_nonce else Status.QUEUED


def _moved(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.agent_version = data["to_version"]


def _decided(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.step = data["step"]
    used = (data.get("usage") or {}).get("tokens")
    if used:
        past.task.spent = {**past.task.spent, "tokens": past.task.spent.get("tokens", 0) + used}


def _checkpoint(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.checkpoint_seq, past.task.checkpoint_step = event.seq, data["step"]


def _wait_started(past: Past, event: Event, data: dict[str, Any]) -> None:
    if data.get("name"):
        past.task.open_wait = data
    else:
        past.task.wait = data


def _wait_ended(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.open_wait = past.task.wait = None
    past.task.signals = [one for one in past.task.signals if one["seq"] != data.get("signal_seq")]


def _signal(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.task.signals = [*past.task.signals, {"seq": event.seq, "name": data["name"]}]


def _intended(past: Past, event: Event, data: dict[str, Any]) -> None:
    names = ("name", "step", "ordinal", "tool", "contract_version", "effect_class", "digest", "key", "business_key")
    fixed = {name: data.get(name) for name in names}
    past.calls[data["name"]] = Call(
        task=past.task, intended_seq=event.seq, state=CallState.INTENDED, attempts=0, **fixed
    )


def _attempted(past: Past, event: Event, data: dict[str, Any]) -> None:
    call = past.calls[data["name"]]
    deadline = datetime.fromisoformat(data["deadline"])
    call.state, call.attempts, call.attempt_epoch = CallState.ATTEMPTED, data["attempt"], event.epoch
    call.first_attempt_at = call.first_attempt_at or event.at
    call.deadline = max(call.deadline or deadline, deadline)


def _outcome(past: Past, event: Event, data: dict[str, Any]) -> None:
    call = past.calls[data["name"]]
    states = {"ok": CallState.OK, "refused": CallState.REFUSED, "started": CallState.STARTED}
    call.state = states.get(data["outcome"], CallState.UNKNOWN)
    call.maybe_applied = call.maybe_applied or call.state == CallState.UNKNOWN
    call.answer_seq = event.seq
    if call.state == CallState.OK and past.settled.get(call.name) == event.seq:
        call.state = CallState.ANSWERED


def _observed(past: Past, event: Event, data: dict[str, Any]) -> None:
    call = past.calls[data["name"]]
    call.look_ups = data["look_up"]
    if data.get("adopted"):
        call.state, call.answer_seq = CallState.OK, event.seq


def _settled(past: Past, event: Event, data: dict[str, Any]) -> None:
    past.calls[data["name"]].state = _SETTLED[data["answer"]]
    if past.task.status == Status.IN_DOUBT:
        past.task.status = Status.QUEUED


def _answered(past: Past, event: Event, data: dict[str, Any]) -> None:
    state = CallState.APPROVED if data["decision"] == "approved" else CallState.DENIED
    past.calls[data["name"]].state = state


_HANDLERS: dict[str, Callable[[Past, Event, dict[str, Any]], None]] = {
    "task.created": _created,
    "task.resumed": _resumed,
    "task.moved": _moved,
    "slice.claimed": _claimed,
    "slice.released": _let_go,
    "slice.lost": _let_go,
    "step.decided": _decided,
    "checkpoint.advanced": _checkpoint,
    "wait.started": _wait_started,
    "wait.ended": _wait_ended,
    "signal.received": _signal,
    "call.intended": _intended,
    "call.attempted": _attempted,
    "call.outcome": _outcome,
    "call.observed": _observed,
    "call.settled": _settled,
    "approval.decided": _answered,
}
