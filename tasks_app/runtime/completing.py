"""Completion: only by criteria that were checked against the world (F01, F02, S5)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.boundaries import Boundary, Position, cross
from tasks_app.criteria import Criterion, Observation, check_of
from tasks_app.models import Call, Task
from tasks_app.record.events import Event, EvidenceObserved, TaskCompleted, TaskUnverified
from tasks_app.runtime.ending import NO_LEASE, slice_end, task_ended, terminal
from tasks_app.runtime.recorded import event_data
from tasks_app.runtime.session import Session
from tasks_app.runtime.watchdog import DeadlinePassed, deadline_guard
from tasks_app.status import EFFECT_HOLDS, CallState, EffectClass, Status

CHECK_SECONDS = 30.0
# Calls that rightly left no effect need no evidence (S6).
WITHOUT_EFFECT = {
    CallState.REFUSED,
    CallState.DENIED,
    CallState.EXPIRED,
    CallState.LAPSED,
    CallState.VOIDED,
    CallState.WITHDRAWN,
    CallState.NOT_HAPPENED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One criterion and what was seen."""

    name: str
    source: str
    how: str
    observation: Observation

    def event(self) -> EvidenceObserved:
        """Return ``evidence.observed``."""
        seen = self.observation
        return EvidenceObserved(
            criterion=self.name,
            holds=seen.holds,
            expected=seen.expected,
            seen=seen.seen,
            source=self.source,
            how=self.how,
            details=dict(seen.details) or None,
        )


def criteria_check(task: Task, claims: list[Mapping[str, Any]]) -> list[Checked]:
    """Check every criterion of a task against record and world: done_when, one a call with an effect, claims."""
    checked = [_look(task, Criterion.from_json(item), item.get("source", "done_when")) for item in task.done_when]
    calls = Call.objects.filter(task=task).exclude(effect_class=EffectClass.NONE).order_by("id")
    checked += [_of_call(call) for call in calls if CallState(call.state) not in WITHOUT_EFFECT]
    checked += [_look(task, Criterion.from_json(item), "claim") for item in claims]
    return checked


def completion_check(session: Session) -> bool:
    """Check the claim of completion and end the task, or leave it *unverified*. False: think again."""
    claim = session.task.claim or {}
    cross(Boundary.CLAIMS, Position.BEFORE, task=session.lease.task, epoch=session.lease.token.epoch)
    checked = criteria_check(session.task, claim.get("claims", []))
    events: list[Event] = [item.event() for item in checked]
    missing = missing_of(checked)
    if missing:
        events.append(TaskUnverified(missing=missing))
        change = {"status": Status.UNVERIFIED, "wait": None, "wake_at": None, **NO_LEASE}
        return slice_end(session, "finished", task=change, events=events, boundary=Boundary.COMPLETE)
    events.append(TaskCompleted(criteria=len(checked)))
    done = slice_end(session, "finished", task=terminal(Status.COMPLETED), events=events, boundary=Boundary.COMPLETE)
    if done:
        task_ended(session)
    return done


def missing_of(checked: list[Checked]) -> list[dict[str, Any]]:
    """Return what does not hold: criterion, expected, seen. No criterion at all is missing too."""
    if not checked:
        return [{"criterion": "none", "expected": "at least one criterion", "seen": "no criterion was declared"}]
    return [
        {"criterion": c.name, "expected": c.observation.expected, "seen": c.observation.seen}
        for c in checked
        if not c.observation.holds
    ]


def _look(task: Task, criterion: Criterion, source: str) -> Checked:
    filled = criterion.filled(task.intent)
    arguments = filled.arguments
    check = check_of(criterion.check)
    if check is None:
        seen: Any = f"this worker carries no check named {criterion.check!r}"
        none = Observation(holds=False, expected=arguments, seen=seen)
        return Checked(name=str(filled), source=source, how="checked", observation=none)

    try:
        with deadline_guard(time.monotonic() + CHECK_SECONDS):
            observation = check(**arguments)
    except (Exception, DeadlinePassed) as error:
        seen = f"cannot tell: {type(error).__name__}: {error}"[:500]
        observation = Observation(holds=False, expected=arguments, seen=seen)
    return Checked(name=str(filled), source=source, how="checked", observation=observation)


def _of_call(call: Call) -> Checked:
    state = CallState(call.state)
    how = {CallState.VERIFIED: "checked", CallState.ANSWERED: "answered, not checked"}.get(state, "settled")
    if state == CallState.HAPPENED and call.settled_seq:
        how = f"settled by {event_data(call.task_id, call.settled_seq).get('by', 'a person')}"
    observation = Observation(holds=state in EFFECT_HOLDS, expected="exactly one effect", seen=state.value)
    return Checked(name=f"call {call.name}", source="call", how=how, observation=observation)
