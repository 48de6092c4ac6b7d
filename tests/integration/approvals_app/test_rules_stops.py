"""Rule 14: stop switches."""

import pytest
from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest
from tasks_app.record.append import Stale
from tasks_app.services.stops import stop_lift, stop_set
from tests.desk import CLEAN, HUSH, Desk, attempt, claim, decide, kinds, parked, propose, task_create
from tests.integration.approvals_app.rules import fresh


def test_rule_14_decisions_go_on_while_everything_is_stopped(desk: Desk):
    """No attempt commits after a stop: see the tests of stop switches, with real workers."""
    request = parked(desk)
    stop = stop_set(workspace=desk.workspace, scope="workspace", reason="r", user=desk.silas, actor="person:silas")
    assert stop.attempts == []
    decide(request, desk.rhea)
    assert fresh(request).status == "approved"


def test_rule_14_while_an_agent_is_stopped_nothing_new_is_asked_for_it(desk: Desk):
    stop_set(
        workspace=desk.workspace, scope="agent", name="desk.agent", reason="r", user=desk.silas, actor="person:silas"
    )
    with pytest.raises(Stale, match=r"stopped: agent desk\.agent"):
        parked(desk)
    assert not ApprovalRequest.objects.exists()


@pytest.mark.parametrize("contract", [CLEAN, HUSH], ids=["asks", "asks nobody"])
@pytest.mark.parametrize("scope", ["all", "workspace", "agent", "tool"])
def test_rule_14_a_stop_refuses_every_attempt_in_its_scope_and_uses_no_approval_up(desk: Desk, scope, contract):
    task = task_create(desk)
    token = claim(task)
    request = propose(task, contract, "clean", {"path": "/a"}, token=token)
    if request:
        decide(request, desk.rhea)
    User.objects.filter(pk=desk.silas.pk).update(is_superuser=True)  # a stop over everything is for who runs it all
    silas = User.objects.get(pk=desk.silas.pk)
    name = {"all": "", "workspace": "", "agent": "desk.agent", "tool": contract.name}[scope]
    stop = stop_set(workspace=desk.workspace, scope=scope, name=name, reason="r", user=silas, actor="person:silas")
    with pytest.raises(Stale, match="stopped"):
        attempt(task.pk, "clean", token, contract=contract)
    assert "call.attempted" not in kinds(task.pk)
    stop_lift(workspace=desk.workspace, stop=stop.switch.pk, reason="seen", user=silas, actor="person:silas")
    assert attempt(task.pk, "clean", token, contract=contract).admitted
    assert request is None or fresh(request).status == "consumed"
