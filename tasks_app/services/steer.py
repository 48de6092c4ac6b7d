"""Pause, resume and move a task. Asking again for what holds already is the same answer (O01)."""

from typing import Any
from uuid import UUID

from core.errors import Conflict
from core.models import Workspace
from tasks_app.models import Event, Task
from tasks_app.record.events import After, TaskMoved, TaskPaused, TaskResumed
from tasks_app.registry import agent_find, agents
from tasks_app.services import intake
from tasks_app.services.command import Command, command
from tasks_app.status import EXTERNAL_VERSION, TERMINAL, Status

PAUSABLE = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.IN_DOUBT})
GOING = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING})
DUE: dict[str, Any] = {"wake_at": After(0)}
RESUMABLE = frozenset({Status.PAUSED, Status.QUARANTINED, Status.UNVERIFIED})


class NotNow(Conflict):
    """The task is in a state in which this cannot be done; nothing was changed."""

    code = "not-now"


def refuse(task: Task, what: str, *, instead: str) -> NotNow:
    """Return the refusal of a command in the task's present state."""
    return NotNow(f"The task is {task.status} and cannot be {what}; nothing was changed. {instead}", status=task.status)


def task_pause(*, workspace: Workspace, task: UUID, actor: str, reason: str) -> Task:
    """Pause a task: no further attempt is made; open attempts are still looked up and settled.

    Raises NotFound, InvalidInput, NotNow (ended, cancelling, quarantined or unverified).
    """
    reason = intake.text_checked("reason", reason)
    with command(workspace=workspace, task=task, actor=actor) as here:
        if here.task.status != Status.PAUSED:
            _pause(here, reason)
    return Task.objects.get(pk=task)


def _pause(here: Command, reason: str) -> None:
    if here.task.status not in PAUSABLE:
        raise refuse(here.task, "paused", instead=_instead(here.task))
    # Without an open attempt there is nothing to do until it is resumed. A look-up that waits keeps its time.
    still_due = here.attempts_open() or _leased(here.task)
    change = {"status": Status.PAUSED, "wait": None} | ({} if still_due else {"wake_at": None})
    here.record(TaskPaused(reason=reason), task=change)


def task_resume(*, workspace: Workspace, task: UUID, actor: str, reason: str = "") -> Task:
    """Let a task go on: paused, quarantined (its losses are forgotten), or unverified (it is checked again).

    Raises NotFound, NotNow (ended, cancelling, in doubt).
    """
    reason = intake.text_checked("reason", reason, required=False)
    with command(workspace=workspace, task=task, actor=actor) as here:
        if here.task.status not in GOING:
            _resume(here, reason)
    return Task.objects.get(pk=task)


def _resume(here: Command, reason: str) -> None:
    before = Status(here.task.status)
    if before not in RESUMABLE:
        raise refuse(here.task, "resumed", instead=_instead(here.task))
    # A worker that still holds the paused task (it looks something up) goes on under its lease.
    leased = _leased(here.task)
    change = {"status": Status.RUNNING, "wait": None} if leased else {"status": Status.QUEUED, "wait": None} | DUE
    to = _stayed(here) if before == Status.QUARANTINED else None
    if before == Status.QUARANTINED:
        change |= {"losses": 0, "loss_place": ""}
    due = not leased and not (to == Status.PAUSED and not here.attempts_open())
    if to is not None:  # what a pause or a cancel lets go on goes on: looking up, settling
        change |= {"status": to} | ({} if due else {"wake_at": None})
    here.record(TaskResumed(reason=reason, after=before, to=to), task=change, due=due)


def _stayed(here: Command) -> Status | None:
    """Return the state in which a task was quarantined, if that was one that stays until it is ended or resumed."""
    said = {"task.paused": Status.PAUSED, "task.cancel_requested": Status.CANCELLING}
    found = Event.objects.filter(stream=here.task.id, kind__in=[*said, "task.resumed"]).order_by("-seq")
    kind, to = found.values_list("kind", "data__to").first() or ("", None)
    return Status(to) if to else said.get(kind)


def _leased(task: Task) -> bool:
    # Whether it still lives is the sweeper's question: a lost one is first taken back by ``slice.lost``.
    return task.lease_nonce is not None


def task_move(*, workspace: Workspace, task: UUID, actor: str, to_version: int, reason: str) -> Task:
    """Move a task to another version of its agent by hand; the version must be carried here.

    Raises NotFound, InvalidInput (unknown version), NotNow (ended, or a worker holds it: pause it first).
    """
    reason = intake.text_checked("reason", reason)
    with command(workspace=workspace, task=task, actor=actor) as here:
        if here.task.agent_version != to_version:
            _move(here, to_version, reason)
    return Task.objects.get(pk=task)


def _move(here: Command, to_version: int, reason: str) -> None:
    task = here.task
    if task.status in TERMINAL:
        raise refuse(task, "moved", instead=_instead(task))
    if EXTERNAL_VERSION in {task.agent_version, to_version}:
        raise refuse(task, "moved", instead="An agent outside of Handrail has no other version here.")
    if agent_find(task.agent, to_version) is None:
        known = sorted(one.version for one in agents() if one.name == task.agent)
        raise intake.field_error("to_version", f"{task.agent!r} has no version {to_version} here; known: {known}.")
    if _leased(task):
        raise refuse(task, "moved while a worker holds it", instead="Pause it, wait until the worker lets go, move it.")
    waits_for_it = task.status in {Status.QUEUED, Status.WAITING}
    change = {"agent_version": to_version} | (DUE if waits_for_it else {})
    here.record(
        TaskMoved(from_version=task.agent_version, to_version=to_version, reason=reason), task=change, due=waits_for_it
    )


def _instead(task: Task) -> str:
    match Status(task.status):
        case Status.IN_DOUBT:
            return "Record what happened to its calls of unknown outcome; it then goes on by itself."
        case Status.CANCELLING:
            return "It ends as soon as no attempt is open."
        case Status.QUARANTINED | Status.UNVERIFIED:
            return "Resume it, or cancel it."
        case status if status in TERMINAL:
            return "It has ended; start a copy of it instead."
    return "Look at its record."
