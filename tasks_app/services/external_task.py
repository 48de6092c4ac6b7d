"""Tasks of agents outside: whose they are, whether they are free, how they are opened and finished."""

import time
from collections.abc import Callable
from typing import ClassVar
from uuid import UUID

from django.contrib.auth.models import User

from core.boundaries import Boundary
from core.errors import Conflict, Forbidden, NotFound, Unavailable
from core.models import Workspace
from core.tracing import span
from tasks_app.external import EXTERNAL_HOLDER, FINISHED, OUTSIDE, external_decide
from tasks_app.models import Call, Event, Status, Task, WaitKind
from tasks_app.record.append import append
from tasks_app.record.events import After, SignalReceived, StepDecided, WaitStarted
from tasks_app.registry import Agent
from tasks_app.services import intake
from tasks_app.services.command import Command, announce, command, crossing
from tasks_app.services.create import task_created, task_prepare
from tasks_app.services.requests import Answer, request_of, request_once
from tasks_app.services.steer import refuse
from tasks_app.status import EXTERNAL_VERSION, OPEN, TERMINAL

PATIENCE = 3.0  # seconds to wait for a worker that tends to the task just now
LOOK_AGAIN = 0.02


class GateBusy(Unavailable):
    """A worker tends to the task just now; nothing was changed, try again."""

    code = "gate-busy"


class GateCallOpen(Conflict):
    """The task has a call that is not settled; one call at a time, or open another task."""

    code = "gate-call-open"


class GateTooMany(Conflict):
    """Too many requests of this agent or task wait for people; nothing was changed, try again later."""

    status: ClassVar[int] = 429
    code = "too-many"


def external_open(
    *,
    workspace: Workspace,
    owner: User,
    actor: str,
    agent: str,
    title: str,
    intent: dict[str, object],
    request_key: str,
) -> Task:
    """Open a task that ``agent`` works on outside; the same ``request_key`` and body is the same task.

    Raises InvalidInput, TooLarge, RequestKeyReused.
    """
    body = {"gate-open": [agent, title, intent]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body)
    row = external_prepare(workspace=workspace, owner=owner, agent=agent, title=title, intent=intent)
    with crossing(Boundary.CREATE, task=None):
        answer = request_once(request, lambda: Answer(stream=external_insert(row, actor=actor).id))
    return Task.objects.get(pk=answer.stream)


def external_prepare(*, workspace: Workspace, owner: User, agent: str, title: str, intent: dict[str, object]) -> Task:
    """Return the unsaved row of a task, checked. Raises InvalidInput, TooLarge."""
    outside = Agent(name=agent, version=EXTERNAL_VERSION, decide=external_decide)
    return task_prepare(workspace=workspace, owner=owner, agent=outside, intent=intent, title=title)


def external_insert(row: Task, *, actor: str) -> Task:
    """Write a task that waits for its agent outside, and that no worker is woken for; in the caller's transaction."""
    created = task_created(row)
    row.save(force_insert=True)
    wait = {"kind": WaitKind.SIGNAL, "on": FINISHED}
    events = [
        created,
        StepDecided(step=1, does="wait"),
        WaitStarted(step=1, name=OUTSIDE, kind=WaitKind.SIGNAL, on=FINISHED),
        WaitStarted(step=1, kind=WaitKind.OUTSIDE),
    ]
    changes = {
        "step": 1,
        "open_wait": {**wait, "name": OUTSIDE, "step": 1},
        "status": Status.WAITING,
        "wait": {"kind": WaitKind.OUTSIDE},
        "wake_at": None,
    }
    with span("task.create", task=row.id, agent=row.agent, actor=actor):
        done = append(stream=row.id, events=events, actor=actor, task=changes)
    announce(task=row.id, workspace=row.workspace_id, seq=done.head_seq, due=False)
    return row


def external_finish(*, workspace: Workspace, task: UUID, actor: str, outcome: str, summary: str) -> Task:
    """Say that the agent has finished (``done`` or ``failed``); the task ends once no call of it is open.

    Again is the same answer. Raises NotFound, NotNow (cancelling), InvalidInput.
    """
    if outcome not in {"done", "failed"}:
        raise intake.field_error("outcome", "must be done or failed.")
    summary = intake.text_checked("summary", summary, required=False)
    with command(workspace=workspace, task=task, actor=actor) as here:
        external_owned(here.task, actor)
        if here.task.status not in TERMINAL and not finished(here.task):
            finish_record(here, {"outcome": outcome, "summary": summary})
    return Task.objects.get(pk=task)


def finish_record(here: Command, payload: dict[str, str]) -> None:
    """Append the end of the agent's work; due at once where nobody holds the task and no call of it is open."""
    if here.task.status == Status.CANCELLING:
        raise refuse(here.task, "finished", instead="It ends as soon as no attempt is open.")
    signals = [*here.task.signals, {"seq": here.task.head_seq + 1, "name": FINISHED}]
    free = here.task.lease_nonce is None and not Call.objects.filter(task=here.task, state__in=OPEN).exists()
    due = {"wake_at": After(0)} if free else {}
    here.record(SignalReceived(name=FINISHED, payload=payload), task={"signals": signals, **due}, due=free)


def finished(task: Task) -> bool:
    """Whether its agent has said that it has finished."""
    return task.open_wait is None or any(signal["name"] == FINISHED for signal in task.signals)


def external_owned(task: Task, actor: str) -> None:
    """Raise NotFound for a task that runs here, Forbidden for one that another agent opened."""
    if task.agent_version != EXTERNAL_VERSION:
        raise NotFound
    if Event.objects.values_list("actor", flat=True).get(stream=task.pk, seq=1) != actor:
        raise Forbidden("Another agent opened this task; nothing was changed.")


def external_free(task: Task) -> None:
    """Raise GateBusy while a worker tends to the task, GateCallOpen while an agent outside acts under its lease."""
    if task.lease_nonce is None:
        return
    if task.lease_holder.startswith(EXTERNAL_HOLDER):
        raise GateCallOpen("A call of this task is being executed: report its outcome first. Nothing was changed.")
    raise GateBusy


def when_free[T](work: Callable[[], T]) -> T:
    """Run ``work``, again for a few seconds while a worker tends to the task: that takes milliseconds.

    Raises what ``work`` raises, GateBusy in the end.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except GateBusy:
            if time.monotonic() > until:
                raise
            time.sleep(LOOK_AGAIN)
