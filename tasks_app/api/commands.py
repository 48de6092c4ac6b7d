"""What operators do to tasks over HTTP. Asking again for what holds already is the same answer."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Header, Router, Status

from core.access import Right
from core.principal import caller
from tasks_app import call_names as call_names  # what {call_name:} is in an address
from tasks_app.api.schemas import (
    AnswerOut,
    CallOut,
    CopyIn,
    LookedOut,
    MoveIn,
    ReasonIn,
    RecheckOut,
    ResumeIn,
    SettleIn,
    SignalIn,
    TaskOut,
    call_out,
    task_out,
)
from tasks_app.services.cancel import task_cancel
from tasks_app.services.copy import task_copy
from tasks_app.services.look_up import look_up_ask
from tasks_app.services.recheck import recheck_ask
from tasks_app.services.repeat import repeat_allow
from tasks_app.services.settle import call_settle
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import task_move, task_pause, task_resume

router = Router()
Key = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post("/{uuid:task}/pause", response=TaskOut)
def pause(request: HttpRequest, task: UUID, body: ReasonIn) -> Any:
    """Pause: no further attempt is made; open attempts are still looked up and settled."""
    who = caller(request, Right.TASKS_OPERATE)
    return task_out(task_pause(workspace=who.workspace, task=task, actor=who.actor, reason=body.reason))


@router.post("/{uuid:task}/resume", response=TaskOut)
def resume(request: HttpRequest, task: UUID, body: ResumeIn) -> Any:
    """Let a paused, quarantined or unverified task go on."""
    who = caller(request, Right.TASKS_OPERATE)
    return task_out(task_resume(workspace=who.workspace, task=task, actor=who.actor, reason=body.reason))


@router.post("/{uuid:task}/cancel", response=TaskOut)
def cancel(request: HttpRequest, task: UUID, body: ReasonIn) -> Any:
    """Cancel: nothing further starts; what was attempted is settled first."""
    who = caller(request, Right.TASKS_OPERATE)
    return task_out(task_cancel(workspace=who.workspace, task=task, actor=who.actor, reason=body.reason))


@router.post("/{uuid:task}/move", response=TaskOut)
def move(request: HttpRequest, task: UUID, body: MoveIn) -> Any:
    """Move a task to another version of its agent."""
    who = caller(request, Right.TASKS_OPERATE)
    moved = task_move(
        workspace=who.workspace, task=task, actor=who.actor, to_version=body.to_version, reason=body.reason
    )
    return task_out(moved)


@router.post("/{uuid:task}/signal", response=AnswerOut)
def signal(request: HttpRequest, task: UUID, body: SignalIn, idempotency_key: Key = None) -> Any:
    """Send a signal: kept until a wait takes it."""
    who = caller(request, Right.TASKS_OPERATE)
    answer = signal_send(
        workspace=who.workspace,
        task=task,
        actor=who.actor,
        name=body.name,
        payload=body.payload,
        request_key=body.request_key or idempotency_key,
    )
    return {"task": answer.stream, "seq": answer.seq, "first": answer.first}


@router.post("/{uuid:task}/calls/{call_name:name}/settle", response=CallOut)
def settle(request: HttpRequest, task: UUID, name: str, body: SettleIn) -> Any:
    """Record what happened to a call in doubt."""
    who = caller(request, Right.TASKS_SETTLE)
    settled = call_settle(
        workspace=who.workspace,
        task=task,
        name=name,
        actor=who.actor,
        answer=body.answer,
        evidence=body.evidence,
        reference=body.reference,
    )
    return call_out(settled)


@router.post("/{uuid:task}/calls/{call_name:name}/look-up", response={202: LookedOut})
def look_up(request: HttpRequest, task: UUID, name: str) -> Any:
    """Ask a worker to look a call in doubt up outside; found as intended or certainly absent closes the doubt.

    What it sees follows in the record: call.observed.
    """
    who = caller(request, Right.TASKS_SETTLE)
    after = look_up_ask(workspace=who.workspace, task=task, name=name, actor=who.actor)
    return Status(202, {"after_seq": after})


@router.post("/{uuid:task}/calls/{call_name:name}/allow-repeat", response=CallOut)
def allow_repeat(request: HttpRequest, task: UUID, name: str, body: ReasonIn) -> Any:
    """Let the act of a settled call be done once more: one other call with its business key is not refused."""
    who = caller(request, Right.TASKS_SETTLE)
    return call_out(repeat_allow(workspace=who.workspace, task=task, name=name, actor=who.actor, reason=body.reason))


@router.post("/{uuid:task}/recheck", response={202: RecheckOut})
def recheck(request: HttpRequest, task: UUID) -> Any:
    """Ask a worker to check the evidence of a completed or unverified task again.

    What it sees follows in the record: evidence.observed for each criterion, evidence.gone where one no longer holds.
    """
    who = caller(request, Right.TASKS_OPERATE)
    return Status(202, {"after_seq": recheck_ask(workspace=who.workspace, task=task, actor=who.actor)})


@router.post("/{uuid:task}/copy", response={201: TaskOut})
def copy(request: HttpRequest, task: UUID, body: CopyIn, idempotency_key: Key = None) -> Any:
    """Start a copy from a step: a new task with new calls, keys and approvals."""
    who = caller(request, Right.TASKS_CREATE)
    made = task_copy(
        workspace=who.workspace,
        task=task,
        owner=who.user,
        actor=who.actor,
        step=body.step,
        title=body.title,
        request_key=body.request_key or idempotency_key,
    )
    return Status(201, task_out(made))
