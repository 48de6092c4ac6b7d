"""An agent outside asks whether it may execute a call: fixed, judged by policy, and asked of people, as any other."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from core.boundaries import Boundary
from core.errors import Conflict, InvalidInput
from core.models import Workspace
from tasks_app import registry
from tasks_app.decisions import Call as CallDecision
from tasks_app.gate import ASK_LATER, gate
from tasks_app.models import Call, Status, Task, WaitKind
from tasks_app.record.append import CallChange, Seq, Stale
from tasks_app.record.events import (
    After,
    ApprovalDecided,
    CallOutcome,
    CheckpointAdvanced,
    Event,
    StepDecided,
    WaitStarted,
)
from tasks_app.runtime.intending import CannotIntend, Intended, call_intend
from tasks_app.runtime.requesting import asked_cross
from tasks_app.services import intake
from tasks_app.services.again import free_name
from tasks_app.services.command import Command, command_locked, crossing
from tasks_app.services.external_task import (
    GateBusy,
    GateCallOpen,
    GateTooMany,
    external_free,
    external_insert,
    external_owned,
    external_prepare,
    finish_record,
    finished,
    when_free,
)
from tasks_app.services.requests import Answer, Request, request_of, request_once
from tasks_app.services.steer import refuse
from tasks_app.status import OPEN, CallState

TENDED = frozenset({CallState.OK, CallState.UNKNOWN})  # open until a worker has looked at it, which takes moments


class GateRefused(Conflict):
    """The call cannot be asked for; nothing was changed."""

    code = "gate-refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an agent outside wants to execute, and why, in its own words."""

    tool: str
    arguments: Mapping[str, Any]
    name: str = ""
    reason: str = ""

    def body(self) -> list[Any]:
        """Return what two requests under one key must have in common."""
        return [self.tool, dict(self.arguments), self.name, self.reason]


def external_request(
    *,
    workspace: Workspace,
    owner: User,
    actor: str,
    agent: str,
    asked: Asked,
    request_key: str,
    task: UUID | None = None,
    title: str = "",
) -> Call:
    """Ask for one call, of an open task, or of a task that is opened for it alone and ends with it.

    The same ``request_key`` and body is the same request. Policy decides whether a person is asked; what may run
    without one is ready at once, and withdrawn if it is not used within the contract's ``run_within``.
    Raises NotFound, Forbidden (another agent's task), InvalidInput (unknown tool, arguments that do not fit),
    RequestKeyReused, GateCallOpen, GateRefused, GateTooMany, GateBusy, NotNow.
    """
    body = {"gate": [str(task), title, *asked.body()]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body)
    contract = registry.tool_newest(asked.tool)
    if contract is not None and contract.precondition:
        raise intake.field_error("tool", "reads a state before it acts, which only a worker here can do.")
    reason = intake.text_checked("reason", asked.reason, required=False)
    asked = replace(asked, reason=reason)

    def alone() -> Answer:
        row = external_prepare(
            workspace=workspace, owner=owner, agent=agent, title=title or asked.tool, intent={"tool": asked.tool}
        )
        external_insert(row, actor=actor)
        here = command_locked(workspace=workspace, task=row.id, actor=actor)
        answer = _request(here, asked)
        finish_record(_again(here), {"outcome": "done", "summary": ""})
        return answer

    def of_task() -> Answer:
        assert task is not None
        here = command_locked(workspace=workspace, task=task, actor=actor)
        external_owned(here.task, actor)
        return _request(here, asked)

    answer = when_free(lambda: _once(request, alone if task is None else of_task, task))
    return Call.objects.select_related("task").get(task=answer.stream, intended_seq=answer.seq)


def _once(request: Request, work: Any, task: UUID | None) -> Answer:
    with crossing(Boundary.CREATE if task is None else Boundary.OPERATOR, task=task):
        try:
            answer = request_once(request, work)
        except CannotIntend as refusal:
            raise _refusal(refusal) from refusal
        except Stale as stale:
            if stale.refusal.startswith(ASK_LATER):
                raise GateTooMany(f"Nothing was asked: {stale.refusal}. Try again later.") from stale
            raise
    if answer.first:
        asked_cross(answer.stream, None)
    return answer


def _refusal(refusal: CannotIntend) -> Exception:
    code = refusal.refusal["code"]
    if code in {"bad-arguments", "unfit-arguments"}:
        fields = [{**one, "field": f"arguments.{one['field']}"} for one in refusal.refusal["fields"]]
        return InvalidInput(f"{refusal} Nothing was changed.", errors=fields)
    if code in {"unknown-tool", "bad-name"}:
        field = "tool" if code == "unknown-tool" else "name"
        return InvalidInput(f"{refusal} Nothing was changed.", errors=[{"field": field, "reason": str(refusal)}])
    return GateRefused(f"{refusal} Nothing was changed.", reason=code, first=refusal.refusal.get("first"))


def _again(here: Command) -> Command:
    """Read the locked task again: this transaction has appended to it."""
    return Command(task=Task.objects.select_related("workspace", "owner").get(pk=here.task.pk), actor=here.actor)


def _request(here: Command, asked: Asked) -> Answer:
    task = here.task
    external_free(task)
    if task.status not in {Status.WAITING, Status.QUEUED}:
        raise refuse(task, "asked for a call", instead="Look at its page.")
    if finished(task):
        raise refuse(task, "asked for a call", instead="Its agent has said that it has finished: open another task.")
    names = dict(Call.objects.filter(task=task).values_list("name", "state"))
    _none_open(names)
    name = asked.name or asked.tool
    if name in names and not asked.name:
        name = free_name(name, set(names))
    decided = CallDecision(tool=asked.tool, name=name, arguments=asked.arguments, note=asked.reason)
    if "/" in name:
        raise CannotIntend("bad-name", "A name holds no slash.", name=name)
    intended = call_intend(decided, task=task, step=task.step + 1, ordinal=0, names=names)
    return _record(here, intended, asked)


def _none_open(names: Mapping[str, str]) -> None:
    """No decision is made while a call is open; one that a worker is just reading back is not for long."""
    states = {name: state for name, state in names.items() if state in OPEN}
    if not states:
        return
    if TENDED.issuperset(states.values()):
        raise GateBusy
    raise GateCallOpen(f"The call {next(iter(states))!r} is not settled yet; nothing was changed.", calls=states)


def _record(here: Command, intended: Intended, asked: Asked) -> Answer:
    task, name = here.task, intended.event.name
    outcome = intended.assessment.outcome
    events: list[Event] = []
    changes: dict[str, Any] = {"step": task.step + 1, "bad_decisions": 0}
    if task.checkpoint_step < task.step:
        events.append(CheckpointAdvanced(step=task.step))
        changes |= {"checkpoint_seq": Seq(1), "checkpoint_step": task.step, "losses": 0, "loss_place": ""}
        changes |= {"one_by_one": False}
    events.append(StepDecided(step=task.step + 1, does="call", names=[name], note=asked.reason or None))
    events.append(intended.with_policy())
    at = len(events)
    change = intended.change(task, seq=Seq(at), state=_STATES[outcome])
    if outcome == "deny":
        error = {"code": "denied-by-policy", "reason": intended.assessment.reason, **intended.assessment.policy}
        events.append(CallOutcome(name=name, attempt=0, outcome="refused", error=error, sent=False))
        over = {"settled_seq": Seq(at + 1), "answer_seq": Seq(at + 1), "holds_business_key": False}
        change = _with(change, **over)
        changes |= {"wake_at": After(0)}  # a worker ends the step, and perhaps the task
    else:
        wait, change = _waits(here, intended, asked, events, change)
        events.append(WaitStarted(step=task.step + 1, kind=wait["kind"], on=wait["on"]))
        # What may run at once is withdrawn if nobody ever begins it; an approval has a must-run-by of its own.
        use_by = After(intended.contract.run_within) if outcome == "allow" else None
        changes |= {"status": Status.WAITING, "wait": wait, "wake_at": use_by}
    done = here.record(*events, task=changes, calls=[change], due=outcome == "deny")
    return Answer(stream=task.pk, seq=done.first_seq + at - 1)


_STATES = {"ask": CallState.ASKED, "allow": CallState.INTENDED, "deny": CallState.REFUSED}


def _waits(
    here: Command, intended: Intended, asked: Asked, events: list[Event], change: CallChange
) -> tuple[dict[str, Any], CallChange]:
    """Ask people where policy says so; return what the task waits for then, and the call's row."""
    name = intended.event.name
    if intended.assessment.outcome != "ask":
        return {"kind": WaitKind.OUTSIDE, "on": [name]}, change
    requested = gate().request(
        task=here.task,
        call=change,
        contract=intended.contract,
        arguments=intended.event.arguments,
        digest=intended.event.digest,
        policy=intended.assessment.policy,
        reason=asked.reason,
    )
    events += requested
    if any(isinstance(event, ApprovalDecided) for event in requested):  # a standing grant answered
        return {"kind": WaitKind.OUTSIDE, "on": [name]}, _with(change, state=CallState.APPROVED)
    return {"kind": WaitKind.APPROVAL, "on": [name]}, change


def _with(change: CallChange, **values: Any) -> CallChange:
    return CallChange(name=change.name, new=change.new, set={**change.set, **values})
