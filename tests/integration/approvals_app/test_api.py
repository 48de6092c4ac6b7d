"""``/api/v1/approvals``: the same services as the page, for people's tokens and sessions; never for agents."""

from typing import Any

from django.test import Client

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.access import Right
from tasks_app.services.access import token_create
from tests.desk import PAY, Desk, decide, kinds, parked

ALL = "/api/v1/approvals"


def client_of(desk: Desk, user: Any, *scopes: Right, kind: str = "person") -> Client:
    _, secret = token_create(
        workspace=desk.workspace, user=user, name="ci", scopes=scopes, days=1, actor="system", kind=kind
    )
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})


def decider(desk: Desk, user: Any) -> Client:
    return client_of(desk, user, Right.APPROVALS_READ, Right.APPROVALS_DECIDE)


def post(client: Client, request: ApprovalRequest, **body: Any) -> Any:
    whole = {"decision": "approved", "digest": request.digest, "reason": "ok"} | body
    return client.post(f"{ALL}/{request.pk}/decide", whole, content_type="application/json")


def test_what_waits_can_be_listed_read_whole_and_decided(desk: Desk):
    request = parked(desk, PAY, name="pay")
    client = decider(desk, desk.rhea)
    listed = client.get(ALL).json()
    assert [row["id"] for row in listed["approvals"]] == [str(request.pk)]
    card = client.get(f"{ALL}/{request.pk}").json()
    assert card["arguments"] == {"amount": "90.00", "to": "acme"}
    assert (card["agent_reason"], card["refusal"], card["effect_class"]) == ("It is full.", None, "opaque")
    answer = post(client, request, digest=card["digest"])
    assert answer.status_code == 200
    assert {"new": True, "status": "approved", "decided_by": "rhea"}.items() <= answer.json().items()
    assert post(client, request).json()["new"] is False
    assert client.get(ALL).json()["approvals"] == []
    assert client.get(ALL, {"shelf": "decided"}).json()["approvals"][0]["reason"] == "ok"
    request.refresh_from_db()
    assert request.decided_via == "api"


def test_rule_3_the_loser_gets_problem_details_with_who_what_and_when(desk: Desk):
    request = parked(desk)
    decide(request, desk.silas, Answer.DENIED)
    answer = post(decider(desk, desk.rhea), request)
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["state"]) == (409, 409, "denied")
    assert problem["decided_by"] == "silas"
    assert "Already denied by silas at" in problem["detail"]
    assert answer["Content-Type"].startswith("application/problem+json")


def test_rule_6_rule_11_an_agents_credential_can_never_decide(desk: Desk):
    request = parked(desk)
    agent = client_of(desk, desk.rhea, Right.APPROVALS_READ, kind="agent")
    assert agent.get(f"{ALL}/{request.pk}").json()["refusal"]
    assert post(agent, request).status_code == 403
    # Not even where somebody has written the scope into its row.
    desk.rhea.api_tokens.update(scopes=[right.value for right in Right])
    assert post(agent, request).status_code == 403
    assert post(client_of(desk, desk.rhea, Right.APPROVALS_READ), request).status_code == 403
    assert post(decider(desk, desk.owen), request).status_code == 403
    assert "approval.decided" not in kinds(request.task_id)


def test_case_25_c_a_session_without_its_csrf_mark_is_refused(desk: Desk):
    request = parked(desk)
    client = Client(enforce_csrf_checks=True)
    client.force_login(desk.rhea)
    assert post(client, request).status_code == 403
    assert "approval.decided" not in kinds(request.task_id)


def test_case_25_d_another_workspaces_token_gets_the_answer_of_an_unknown_id(desk: Desk):
    request = parked(desk)
    other = desk.tobin.memberships.first().workspace
    _, secret = token_create(
        workspace=other,
        user=desk.tobin,
        name="ci",
        scopes=(Right.APPROVALS_READ, Right.APPROVALS_DECIDE),
        days=1,
        actor="system",
    )
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    unknown = client.get(f"{ALL}/{desk.workspace.pk}")
    assert client.get(f"{ALL}/{request.pk}").status_code == unknown.status_code == 404
    assert client.get(f"{ALL}/{request.pk}").json()["detail"] == unknown.json()["detail"]
    assert post(client, request).status_code == 404
    assert client.get(ALL).json()["approvals"] == []


def test_a_decision_without_digest_or_with_another_word_is_refused_with_the_field_named(desk: Desk):
    request = parked(desk)
    client = decider(desk, desk.rhea)
    answer = post(client, request, digest="")
    assert answer.status_code == 422
    assert "digest" in str(answer.json())
    assert post(client, request, decision="maybe").status_code == 422
    assert post(client, request, digest="0" * 64).status_code == 409


def test_an_approval_can_be_taken_back_and_a_denial_opened_again(desk: Desk):
    taken, denied = parked(desk), parked(desk)
    client = decider(desk, desk.rhea)
    post(client, taken)
    post(client, denied, decision="denied")
    body = {"reason": "wrong host"}
    back = client.post(f"{ALL}/{taken.pk}/take-back", body, content_type="application/json")
    assert (back.status_code, back.json()["status"]) == (200, "revoked")
    assert client.post(f"{ALL}/{denied.pk}/ask-again", body, content_type="application/json").status_code == 200
    assert client.post(f"{ALL}/{taken.pk}/ask-again", body, content_type="application/json").status_code == 409
