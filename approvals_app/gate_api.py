"""``/api/v1/gate``: for agents that execute their calls themselves. Request, wait, use, report; never decide."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Header, Router, Status
from pydantic import FiniteFloat

from approvals_app.gate_calls import call_fields, gate_call
from approvals_app.gate_schemas import (
    FinishIn,
    GateCallOut,
    GateTaskOut,
    OpenIn,
    ReportIn,
    ReportOut,
    RequestIn,
    UseIn,
    UseOut,
)
from approvals_app.waiting import LONGEST_WAIT, change_wait
from core.access import Right
from core.errors import Forbidden
from core.principal import Principal, caller
from tasks_app.services.external_report import Report, external_report
from tasks_app.services.external_request import Asked, external_request
from tasks_app.services.external_task import external_finish, external_open
from tasks_app.services.external_use import external_use

router = Router()
Key = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post("/tasks", response={201: GateTaskOut}, summary="Open a task for several calls")
def gate_open(request: HttpRequest, body: OpenIn, idempotency_key: Key = None) -> Any:
    """Open a task that runs outside; no worker takes it. The agent's name is that of its token."""
    agent = _agent(request)
    task = external_open(
        workspace=agent.workspace,
        owner=agent.user,
        actor=agent.actor,
        agent=agent.token,
        title=body.title,
        intent=body.intent,
        request_key=body.request_key or idempotency_key or "",
    )
    return Status(201, task)


@router.post("/tasks/{uuid:task}/finish", response=GateTaskOut, summary="Say that the agent has finished")
def gate_finish(request: HttpRequest, task: UUID, body: FinishIn) -> Any:
    """End the task once no call of it is open. It is completed only where an effect is there."""
    agent = _agent(request)
    return external_finish(
        workspace=agent.workspace, task=task, actor=agent.actor, outcome=body.outcome, summary=body.summary
    )


@router.post("/calls", response={201: GateCallOut}, summary="Request a call")
def gate_request(request: HttpRequest, body: RequestIn, idempotency_key: Key = None) -> Any:
    """Ask for one call. Policy decides whether a person must approve it; answered at once either way.

    The same request key and body is the same request; another body under that key is a 409.
    """
    agent = _agent(request)
    call = external_request(
        workspace=agent.workspace,
        owner=agent.user,
        actor=agent.actor,
        agent=agent.token,
        asked=Asked(tool=body.tool, arguments=body.arguments, name=body.name, reason=body.reason),
        request_key=body.request_key or idempotency_key or "",
        task=body.task,
        title=body.title,
    )
    found = gate_call(workspace=agent.workspace, task=call.task_id, name=call.name, actor=agent.actor)
    return Status(201, found)


@router.get("/tasks/{uuid:task}/calls/{name}", response=GateCallOut, summary="Wait for a call")
async def gate_wait(request: HttpRequest, task: UUID, name: str, wait: FiniteFloat = 0.0) -> Any:
    """Answer as soon as nobody needs to be waited for, at the latest after ``wait`` seconds (at most 25)."""
    agent = _agent(request)

    def read() -> dict[str, Any]:
        return gate_call(workspace=agent.workspace, task=task, name=name, actor=agent.actor)

    return await change_wait(read, seconds=min(max(wait, 0.0), LONGEST_WAIT))


@router.post("/tasks/{uuid:task}/calls/{name}/use", response=UseOut, summary="Use a call, once")
def gate_use(request: HttpRequest, task: UUID, name: str, body: UseIn) -> Any:
    """Consume the approval and record the attempt. Whoever gets 200 executes these arguments, everybody else nothing.

    No report by the deadline, and the lag of the tool, means that the outcome is unknown: a person settles it.
    """
    agent = _agent(request)
    used = external_use(workspace=agent.workspace, task=task, name=name, actor=agent.actor, use_key=body.use_key)
    return {
        "task": task,
        "call": used.call.name,
        "arguments": used.arguments,
        "digest": used.call.digest,
        "key": used.call.key,
        "token": used.token,
        "deadline": used.deadline,
        "begin_within": used.begin_within,
        "seconds": used.seconds,
    }


@router.post("/tasks/{uuid:task}/calls/{name}/report", response=ReportOut, summary="Report the outcome")
def gate_report(request: HttpRequest, task: UUID, name: str, body: ReportIn) -> Any:
    """Record what became of it; after the deadline as a late receipt. The same report again is the same answer."""
    agent = _agent(request)
    done = external_report(
        workspace=agent.workspace,
        task=task,
        name=name,
        actor=agent.actor,
        token=body.token,
        report=Report(outcome=body.outcome, result=body.result, reference=body.reference, reason=body.reason),
    )
    return call_fields(done.call) | {"late": done.late}


def _agent(request: HttpRequest) -> Principal:
    """Return the caller, which is an agent's token. Raises Forbidden."""
    principal = caller(request, Right.GATE_USE)
    if not principal.agent:
        raise Forbidden(
            "The gate is for agents: use a token made with manage.py token create USER --agent --name AGENT"
            " --scope gate:use. Nothing was changed."
        )
    return principal
