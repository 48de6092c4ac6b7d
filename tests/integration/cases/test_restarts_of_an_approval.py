"""All processes, the web process too, are killed and started again between every two steps of an approval's life."""

import os
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest
from approvals_app.policy import Demand
from approvals_app.services.policy import rule_write
from approvals_app.status import Outcome
from chaos_app.world.client import WorldClient
from core.access import Right, Role
from tasks_app.services.access import token_create
from tests.crew import Crew, kinds, wait_kind, wait_status
from tests.people import person
from tests.processes import descendants, wait_for
from tests.serving import WebServer

# What a card says that no decision changes.
SAME = (
    "id",
    "digest",
    "line",
    "decide_by",
    "requested_at",
    "quorum",
    "group",
    "rule",
    "rule_version",
    "arguments",
    "agent_reason",
    "if_approved",
    "if_denied",
)


class Everything:
    """A worker, a sweeper and a web process that live and die together; the web process keeps its address."""

    def __init__(self, crew: Crew, folder: Path) -> None:
        self.crew = crew
        self.web = WebServer(crew.environment, folder)
        self.running: list[Popen[bytes]] = []

    def start(self) -> None:
        self.web.start()
        assert self.web.process is not None
        self.running = [self.crew.worker("w"), self.crew.sweeper(), self.web.process]

    def kill(self) -> None:
        """Kill them and all that they have started."""
        for pid in [pid for process in self.running for pid in [process.pid, *descendants(process.pid)]]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.running:
            process.wait(30)

    def person(self, user: User) -> httpx.Client:
        """Return a person's way in: a token of their own."""
        scopes = [Right.APPROVALS_READ, Right.APPROVALS_DECIDE]
        _, secret = token_create(
            workspace=self.crew.people.workspace, user=user, name="desk", scopes=scopes, days=1, actor="system"
        )
        address = f"{self.web.address}/api/v1/approvals/"
        return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {secret}"}, timeout=30)


@pytest.mark.timeout(580)
def test_the_card_and_its_deadlines_outlive_every_process_and_the_effect_is_there_once(
    crew: Crew, client: WorldClient, tmp_path: Path
) -> None:
    ines = person("ines", crew.people.workspace, Role.APPROVER)
    demand = Demand(outcome=Outcome.ASK, quorum=2)
    rule_write(workspace=crew.people.workspace, name="two", condition="true", demand=demand, actor="person:rhea")
    everything = Everything(crew, tmp_path)
    silas, third = everything.person(crew.people.silas), everything.person(ines)

    def card() -> dict[str, Any]:
        shown = silas.get(str(ApprovalRequest.objects.get().pk)).raise_for_status().json()
        return {name: shown[name] for name in SAME}

    def approve(who: httpx.Client) -> None:
        body = {"decision": "approved", "digest": card()["digest"], "reason": ""}
        who.post(f"{ApprovalRequest.objects.get().pk}/decide", json=body).raise_for_status()

    task = crew.task("publish_one", title="restart")
    with everything.web.listener, ExitStack() as stack, silas, third:
        crew.stack = stack
        stack.callback(everything.web.stop)
        everything.start()
        wait_kind(task, "approval.requested")
        before = card()
        everything.kill()  # asked, perhaps not parked
        everything.start()
        wait_status(task, "waiting")
        assert card() == before
        everything.kill()  # parked
        everything.start()
        assert card() == before
        approve(silas)  # one of two
        everything.kill()
        everything.start()
        assert card() == before
        assert kinds(task.pk).count("call.attempted") == 0
        approve(third)
        everything.kill()  # decided, perhaps attempted
        everything.start()
        wait_kind(task, "call.attempted")
        everything.kill()  # used, and perhaps sent
        everything.start()
        assert card() == before
        wait_status(task, "completed", seconds=120)
        wait_for(lambda: ApprovalRequest.objects.get().status == "consumed", what="the approval to be used")
    told = kinds(task.pk)
    counts = [told.count(kind) for kind in ("approval.requested", "approval.decided", "approval.consumed")]
    assert counts == [1, 1, 1]
    assert len([effect for effect in client.effects() if (effect.call or "").startswith(str(task.pk))]) == 1
