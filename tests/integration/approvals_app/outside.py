"""An agent outside, as it speaks to the gate; and what a worker does with its tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.test import Client

from approvals_app.models import ApprovalRequest
from core.access import Right
from core.clock import database_now
from tasks_app.finders import leases_ran_out
from tasks_app.models import Call, Task
from tasks_app.record.invariants import Case, Effect, violations
from tasks_app.record.rebuild import facts, task_differences
from tasks_app.services.access import token_create
from tasks_app.testing import slice_here, worker_here
from tests.desk import PAY, Desk, decide

GATE = "/api/v1/gate"


def path_of(made: Mapping[str, Any]) -> str:
    return f"/tasks/{made['task']}/calls/{quote(made['call'])}"


@dataclass
class Outside:
    """An agent outside, with a token of its own, as it speaks HTTP."""

    client: Client
    ledger: list[Effect] = field(default_factory=list)

    def post(self, path: str, **body: Any) -> Any:
        return self.client.post(f"{GATE}{path}", body, content_type="application/json")

    def request(self, tool: str = PAY.name, *, key: str = "", **more: Any) -> Any:
        arguments = more.pop("arguments", {"amount": "90.00"})
        return self.post("/calls", tool=tool, arguments=arguments, request_key=key or uuid4().hex, **more)

    def call(self, made: Mapping[str, Any], wait: float = 0) -> Any:
        return self.client.get(f"{GATE}{path_of(made)}", {"wait": wait}).json()

    def use(self, made: Mapping[str, Any], *, key: str = "") -> Any:
        return self.post(f"{path_of(made)}/use", use_key=key or uuid4().hex)

    def report(self, used: Mapping[str, Any], outcome: str = "succeeded", **more: Any) -> Any:
        return self.post(f"{path_of(used)}/report", token=used["token"], outcome=outcome, **more)


def agent_client(desk: Desk, name: str, *, kind: str = "agent") -> Client:
    scopes = [Right.GATE_USE, Right.APPROVALS_READ]
    _, secret = token_create(
        workspace=desk.workspace, user=desk.owen, name=name, scopes=scopes, days=1, actor="system", kind=kind
    )
    return Client(headers={"Authorization": f"Bearer {secret}"})


def tend(task: Any) -> Task:
    """What a worker does with the task, if it is due."""
    row = Task.objects.get(pk=task)
    if row.wake_at is not None and row.lease_nonce is None:
        slice_here(row.pk, worker_here())
    return Task.objects.get(pk=task)


def asked(made: Mapping[str, Any]) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=made["approval"])


def ready(desk: Desk, outside: Outside, **more: Any) -> dict[str, Any]:
    made = outside.request(**more).json()
    decide(asked(made), desk.rhea)
    return made


def sound(task: Any, ledger: list[Effect]) -> None:
    """The rows are what the events say, the chain holds, and no invariant is broken."""
    assert task_differences(task) == []
    assert violations(Case(facts=list(facts(task)), ledger=ledger)) == []


def run_out(task: Any) -> None:
    """Let the lease and the attempt's deadline (with the tool's lag) be over."""
    past = database_now().replace(year=2020)
    Task.objects.filter(pk=task).update(lease_until=past)
    Call.objects.filter(task=task).update(deadline=past)
    leases_ran_out()
