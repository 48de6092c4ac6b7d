"""Rule 14: stop switches."""

import pytest

from approvals_app.models import ApprovalRequest
from tasks_app.record.append import Stale
from tasks_app.services.stops import stop_set
from tests.desk import (
    Desk,
    decide,
    parked,
)
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
