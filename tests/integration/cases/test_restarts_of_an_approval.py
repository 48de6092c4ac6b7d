"""All processes are killed and started again between every two steps of an approval's life."""

import os
import signal
from contextlib import ExitStack, suppress
from subprocess import Popen

import pytest
from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest
from approvals_app.policy import Demand
from approvals_app.selectors.card import approval_card
from approvals_app.services.decide import approval_decide
from approvals_app.services.policy import rule_write
from approvals_app.status import Answer, Outcome, Via
from chaos_app.world.client import WorldClient
from core.access import Role
from tests.crew import Crew, kinds, wait_kind, wait_status
from tests.people import person, principal_of
from tests.processes import descendants, wait_for

SAME = (
    "digest",
    "line",
    "decide_by",
    "requested_at",
    "quorum",
    "group",
    "rule",
    "rule_version",
    "policy",
    "run_within",
)


def kill_all(*processes: Popen[bytes]) -> None:
    """Kill them and all that they have started."""
    everyone = [pid for process in processes for pid in [process.pid, *descendants(process.pid)]]
    for pid in everyone:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for process in processes:
        process.wait(30)


@pytest.mark.timeout(500)
def test_the_card_and_its_deadlines_outlive_every_process_and_the_effect_is_there_once(
    crew: Crew, client: WorldClient
) -> None:
    silas, third = crew.people.silas, person("ines", crew.people.workspace, Role.APPROVER)
    demand = Demand(outcome=Outcome.ASK, quorum=2)
    rule_write(workspace=crew.people.workspace, name="two", condition="true", demand=demand, actor="person:rhea")

    def answer(user: User) -> None:
        request = ApprovalRequest.objects.get()
        principal = principal_of(user, crew.people.workspace)
        approval_decide(
            approval=request.pk,
            principal=principal,
            decision=Answer.APPROVED,
            reason="",
            digest=request.digest,
            via=Via.COMMAND,
        )

    def card() -> dict[str, object]:
        request = ApprovalRequest.objects.get()
        shown = approval_card(request=request, principal=principal_of(silas, crew.people.workspace))
        return {name: getattr(request, name) for name in SAME} | {"arguments": shown.arguments, "reason": shown.reason}

    task = crew.task("publish_one", title="restart")
    with ExitStack() as stack:
        crew.stack = stack
        running = [crew.worker("w"), crew.sweeper()]
        wait_kind(task, "approval.requested")
        kill_all(*running)  # asked, perhaps not parked
        before = card()
        running = [crew.worker("w"), crew.sweeper()]
        wait_status(task, "waiting")
        kill_all(*running)  # parked
        assert card() == before
        answer(silas)  # one of two, while nothing runs
        running = [crew.worker("w"), crew.sweeper()]
        assert card() == before
        kill_all(*running)
        answer(third)  # decided, and nobody is there to be woken
        assert kinds(task.pk).count("call.attempted") == 0
        running = [crew.worker("w"), crew.sweeper()]
        wait_kind(task, "call.attempted")
        kill_all(*running)  # used, and perhaps sent
        running = [crew.worker("w"), crew.sweeper()]
        wait_status(task, "completed", seconds=90)
        wait_for(lambda: ApprovalRequest.objects.get().status == "consumed", what="the approval to be used")
    told = kinds(task.pk)
    counts = [told.count(kind) for kind in ("approval.requested", "approval.decided", "approval.consumed")]
    assert counts == [1, 1, 1]
    assert len([effect for effect in client.effects() if (effect.call or "").startswith(str(task.pk))]) == 1
