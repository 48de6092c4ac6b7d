"""The incident agent on a real outside world: slices run in this process, a teammate decides."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import chaos_app.incidents  # noqa: F401 - declares the agent and its tools
from approvals_app.models import ApprovalRequest
from approvals_app.services.decide import approval_decide
from approvals_app.status import Answer, Via
from chaos_app.incidents.config import config_change, config_read
from chaos_app.incidents.mail import mail_notify
from chaos_app.incidents.model import policy_here
from chaos_app.incidents.payments import vendor_credit
from chaos_app.incidents.tickets import ticket_open
from chaos_app.incidents.walls import reaching
from chaos_app.world.client import World, WorldClient, world_start
from tasks_app import registry
from tasks_app.leases import WorkerIdentity
from tasks_app.models import Call, Task
from tasks_app.services.create import task_create
from tasks_app.testing import task_run, worker_here
from tests.people import People, principal_of

INCIDENTS = Path(__file__).resolve().parents[3] / "examples" / "incidents.json"
TOOLS = (ticket_open, config_read, config_change, vendor_credit, mail_notify)
REPORTS = {report["id"]: report for report in json.loads(INCIDENTS.read_text())["incidents"]}


@dataclass
class Office:
    """Rhea starts tasks, Silas decides, one worker runs them here."""

    people: People
    worker: WorkerIdentity
    world: WorldClient

    def start(self, incident: str, **changed: Any) -> UUID:
        task = task_create(
            workspace=self.people.workspace,
            owner=self.people.rhea,
            actor="person:rhea",
            agent="incident.remediate",
            intent=REPORTS[incident] | changed,
        )
        return task.pk

    def run(self, task: UUID) -> Task:
        return task_run(task, self.worker)

    def decide(self, task: UUID, decision: str = "approved") -> str:
        request = ApprovalRequest.objects.get(task_id=task, status="requested")
        approval_decide(
            approval=request.pk,
            principal=principal_of(self.people.silas, self.people.workspace),
            decision=Answer(decision),
            reason="",
            digest=request.digest,
            via=Via.API,
        )
        return request.name

    def finish(self, task: UUID) -> Task:
        """Run and approve until the task needs nobody any more."""
        while self.run(task).status == "waiting":
            self.decide(task)
        return Task.objects.get(pk=task)

    def call(self, task: UUID, name: str) -> Call:
        return Call.objects.get(task_id=task, name=name)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world_start(tmp_path / "world", seed=INCIDENTS) as running:
        monkeypatch.setenv("HANDRAIL_WORLD_URL", running.url)
        monkeypatch.setenv("HANDRAIL_WORLD_SMTP", "{}:{}".format(*running.smtp))
        for made in TOOLS:  # when the module was loaded, there was no world to reach
            contract = replace(made, **reaching(*made.environment))
            monkeypatch.setitem(registry._tools, (made.name, made.version), contract)
        yield running


@pytest.fixture
def office(
    transactional_db: None, people: People, world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[Office]:
    settings.LEASE_SECONDS = 60  # no keeper renews here
    monkeypatch.setenv("HANDRAIL_MODEL", "scripted")
    policy_here.cache_clear()
    yield Office(people, worker_here(), world.client)
    policy_here.cache_clear()
