"""Who may speak to the gate, and what an agent outside can never do."""

import pytest

from approvals_app.status import ApprovalStatus
from core.access import Right
from tasks_app.models import Event
from tests.desk import PAY, Desk, decide, kinds
from tests.integration.approvals_app.outside import GATE, Outside, agent_client, asked, ready


def test_the_record_does_not_give_the_execution_token_away(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    secret = used["token"].rpartition("_")[2]
    claimed = Event.objects.get(stream=made["task"], kind="slice.claimed").data
    assert secret not in str(list(Event.objects.filter(stream=made["task"]).values_list("data", flat=True)))
    forged = {**used, "token": f"hx_1_{claimed['nonce']}"}
    assert outside.report(forged).json()["code"] == "gate-token"
    assert outside.report({**used, "token": "nothing"}).status_code == 403
    assert "call.outcome" not in kinds(made["task"])


def test_another_agent_can_neither_read_nor_use_nor_report(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    other = Outside(agent_client(desk, "thief"))
    assert other.use(made).status_code == 403
    assert other.client.get(f"{GATE}/tasks/{made['task']}/calls/{PAY.name}").status_code == 403
    used = outside.use(made).json()
    assert other.report(used).status_code == 403
    assert outside.report(used).status_code == 200


def test_an_agents_credential_can_neither_decide_nor_grant_nor_edit(desk: Desk, outside: Outside):
    made = outside.request().json()
    path = f"/api/v1/approvals/{made['approval']}"
    body = {"decision": "approved", "digest": made["digest"], "reason": "ok"}
    desk.owen.api_tokens.update(scopes=[right.value for right in Right])  # whatever stands in its row
    for way, sent in (
        ("decide", body),
        ("edit", {"arguments": {"amount": "1"}, "reason": "r", "digest": made["digest"]}),
    ):
        assert outside.client.post(f"{path}/{way}", sent, content_type="application/json").status_code == 403
    grant = {"approval": made["approval"], "ends_at": "2099-01-01T00:00:00Z", "most_uses": 1, "reason": "r"}
    assert outside.client.post(f"{path}/grant", grant, content_type="application/json").status_code == 403
    assert asked(made).status == ApprovalStatus.REQUESTED


def test_a_persons_token_is_no_agent(desk: Desk):
    person = Outside(agent_client(desk, "by hand", kind="person"))
    answer = person.request()
    assert (answer.status_code, "agents" in answer.json()["detail"]) == (403, True)


def test_the_owner_of_the_agent_never_decides_its_calls(desk: Desk, outside: Outside):
    from core.errors import Forbidden

    made = outside.request().json()
    with pytest.raises(Forbidden):
        decide(asked(made), desk.owen)


def test_the_gate_is_described_in_the_openapi(desk: Desk, outside: Outside):
    paths = outside.client.get("/api/v1/openapi.json").json()["paths"]
    assert {path.removeprefix(GATE) for path in paths if path.startswith(GATE)} == {
        "/tasks",
        "/tasks/{task}/finish",
        "/calls",
        "/tasks/{task}/calls/{name}",
        "/tasks/{task}/calls/{name}/use",
        "/tasks/{task}/calls/{name}/report",
    }
