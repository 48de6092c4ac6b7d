"""The gate: an agent outside asks, waits, uses once, reports. Its calls are never sent from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client

from approvals_app.models import ApprovalRequest
from approvals_app.services.edit import approval_edit
from approvals_app.services.expire import approvals_expire
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, ApprovalStatus, Outcome, Via
from core.access import Right
from core.clock import database_now
from tasks_app.finders import leases_ran_out, tasks_due
from tasks_app.models import Call, Event, LateWrite, Task
from tasks_app.record.invariants import Case, Effect, violations
from tasks_app.record.rebuild import facts, task_differences
from tasks_app.record.verify import stream_verify
from tasks_app.services.access import token_create
from tasks_app.services.settle import call_settle
from tasks_app.services.stops import stop_set
from tasks_app.testing import slice_here, worker_here
from tests.desk import CLEAN, HUSH, MOVE, PAY, Desk, as_person, cancel, decide, kinds, rule

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


@pytest.fixture
def outside(desk: Desk) -> Outside:
    return Outside(agent_client(desk, "payer"))


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


def test_a_call_is_asked_approved_used_once_and_reported_and_its_task_ends_complete(desk: Desk, outside: Outside):
    made = outside.request(reason="The invoice is due.").json()
    assert (made["status"], made["decided"], made["arguments"]) == ("waiting", False, {"amount": "90.00", "to": "acme"})
    assert made["url"].endswith(f"/approvals/{made['approval']}/")
    assert outside.use(made).json()["code"] == "gate-waiting"
    decide(asked(made), desk.rhea)
    read = outside.call(made, wait=25)
    assert (read["status"], read["decided_by"]) == ("ready", "rhea")
    used = outside.use(made).json()
    assert (used["arguments"], used["key"]) == (made["arguments"], made["key"])
    assert 11 < used["seconds"] <= 12
    task = Task.objects.get(pk=made["task"])
    assert (task.status, task.lease_holder, task.agent) == ("running", "gate:payer", "payer")
    assert task.lease_until == Call.objects.get(task=task).deadline
    done = outside.report(used, result={"id": 7}, reference="pay-7").json()
    assert (done["status"], done["state"], done["late"]) == ("done", "answered", False)
    assert tend(made["task"]).status == "completed"
    told = kinds(made["task"])
    assert [told.count(one) for one in ("approval.consumed", "call.attempted", "call.outcome")] == [1, 1, 1]
    sound(made["task"], [Effect(key=made["key"], arguments=used["arguments"])])


def test_no_worker_ever_takes_a_call_of_an_agent_outside(desk: Desk, outside: Outside, monkeypatch):
    made = ready(desk, outside)
    assert not tasks_due().filter(pk=made["task"]).exists()
    Task.objects.filter(pk=made["task"]).update(wake_at=database_now())  # somebody wakes it all the same
    slice_here(Task.objects.get(pk=made["task"]).pk, worker_here())
    task = Task.objects.get(pk=made["task"])
    assert (task.status, task.wait) == ("waiting", {"kind": "outside", "on": [PAY.name]})
    assert "call.attempted" not in kinds(task.pk)
    assert outside.use(made).status_code == 200


def test_what_policy_allows_is_ready_without_a_person_and_what_it_denies_is_closed_at_once(
    desk: Desk, outside: Outside
):
    rule(desk, "small", "arguments.path == '/tmp'", Outcome.ALLOW, position=1)
    rule(desk, "never", "arguments.path == '/'", Outcome.DENY, position=2)
    free = outside.request(HUSH.name, arguments={"path": "/tmp"}).json()
    assert (free["status"], free["approval"]) == ("ready", None)
    used = outside.use(free).json()
    assert outside.report(used).json()["status"] == "done"
    assert tend(free["task"]).status == "completed"
    never = outside.request(HUSH.name, arguments={"path": "/"}).json()
    assert (never["status"], never["approval"]) == ("closed", None)
    assert "Policy refuses" in never["reason"]
    assert outside.use(never).json()["code"] == "gate-closed"
    assert tend(never["task"]).status == "failed"
    sound(never["task"], [])


def test_a_tool_that_a_worker_could_resend_asks_a_person_when_it_is_sent_from_outside(desk: Desk, outside: Outside):
    made = outside.request(HUSH.name, arguments={"path": "/srv"}).json()
    assert (made["status"], Call.objects.get(task=made["task"]).effect_class) == ("waiting", "opaque")


def test_the_same_request_key_is_the_same_request_and_another_body_a_conflict(desk: Desk, outside: Outside):
    first, again = outside.request(key="k-1"), outside.request(key="k-1")
    assert (first.status_code, first.json()) == (201, again.json())
    other = outside.request(key="k-1", arguments={"amount": "91.00"})
    assert (other.status_code, other.json()["code"]) == (409, "request-key-reused")
    assert ApprovalRequest.objects.count() == 1
    assert outside.post("/calls", tool=PAY.name, arguments={"amount": "1"}).status_code == 422


def test_a_call_is_used_once_and_the_same_use_key_has_the_same_answer(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    first, again = outside.use(made, key="use-key-1"), outside.use(made, key="use-key-1")
    assert (first.status_code, first.json()["token"]) == (200, again.json()["token"])
    other = outside.use(made, key="use-key-2")
    assert (other.status_code, other.json()["code"]) == (409, "gate-used")
    outside.report(first.json())
    assert outside.use(made, key="use-key-1").json()["code"] == "gate-used"
    assert kinds(made["task"]).count("call.attempted") == 1


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


def test_edited_arguments_are_what_use_returns_and_the_name_resolves_to_them(desk: Desk, outside: Outside):
    made = outside.request(MOVE.name, name="move").json()
    new = approval_edit(
        approval=asked(made).pk,
        principal=as_person(desk.silas, desk.workspace),
        arguments={"amount": "10.00"},
        reason="too much",
        digest=made["digest"],
        via=Via.API,
    )
    assert outside.call(made)["status"] == "waiting"
    decide(new, desk.rhea)
    tend(made["task"])
    read = outside.call(made)
    assert (read["status"], read["edited"], read["call"]) == ("ready", True, "move #2")
    used = outside.use(made).json()
    assert (used["call"], used["arguments"]["amount"]) == ("move #2", "10.00")
    assert used["digest"] == new.digest
    assert outside.report(used).status_code == 200
    assert tend(made["task"]).status == "completed"
    sound(made["task"], [Effect(key=used["key"], arguments=used["arguments"])])


def test_a_denied_an_expired_and_a_revoked_call_can_never_be_used(desk: Desk, outside: Outside):
    denied, expired, revoked = outside.request().json(), outside.request().json(), ready(desk, outside)
    decide(asked(denied), desk.rhea, Answer.DENIED, reason="not now")
    ApprovalRequest.objects.filter(pk=expired["approval"]).update(decide_by=database_now())
    approvals_expire()
    approval_revoke(approval=asked(revoked).pk, principal=as_person(desk.rhea, desk.workspace), reason="wrong")
    for made, state in ((denied, "denied"), (expired, "expired"), (revoked, "voided")):
        assert outside.call(made)["status"] == "closed"
        answer = outside.use(made)
        assert (answer.status_code, answer.json()["code"], answer.json()["state"]) == (409, "gate-closed", state)
        assert tend(made["task"]).status == "failed"
        sound(made["task"], [])
    assert "not now" in outside.call(denied)["reason"]


def test_an_approval_that_is_too_old_lapses_at_use_and_the_record_says_so(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    ApprovalRequest.objects.filter(pk=made["approval"]).update(run_by=database_now())
    answer = outside.use(made).json()
    assert (answer["code"], answer["state"]) == ("gate-closed", "lapsed")
    assert asked(made).status == ApprovalStatus.LAPSED
    assert kinds(made["task"])[-1] == "approval.lapsed"
    assert tend(made["task"]).status == "failed"
    sound(made["task"], [])


def test_a_stop_refuses_every_use_and_leaves_the_approval_unused(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    stop = stop_set(
        workspace=desk.workspace,
        scope="agent",
        name="payer",
        reason="look first",
        user=desk.silas,
        actor="person:silas",
    )
    answer = outside.use(made)
    assert (answer.status_code, answer.json()["code"]) == (409, "gate-stopped")
    assert asked(made).status == ApprovalStatus.APPROVED
    assert Task.objects.get(pk=made["task"]).lease_nonce is None
    assert stop.switch.name == "payer"
    assert outside.request().status_code == 429


def test_a_cancel_between_approval_and_use_wins(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    cancel(made["task"])
    assert outside.use(made).json()["code"] == "gate-closed"
    assert Task.objects.get(pk=made["task"]).status == "cancelled"


def test_a_cancel_while_it_is_executed_waits_for_the_report(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    cancel(made["task"])
    assert Task.objects.get(pk=made["task"]).status == "cancelling"
    assert outside.report(used).json()["status"] == "done"
    assert tend(made["task"]).status == "cancelled"
    sound(made["task"], [Effect(key=made["key"], arguments=used["arguments"])])


def test_a_paused_task_starts_nothing(desk: Desk, outside: Outside):
    from tasks_app.services.steer import task_pause, task_resume

    made = ready(desk, outside)
    task_pause(workspace=desk.workspace, task=made["task"], actor="person:silas", reason="wait")
    assert outside.use(made).json()["code"] == "not-now"
    task_resume(workspace=desk.workspace, task=made["task"], actor="person:silas")
    tend(made["task"])
    assert outside.use(made).status_code == 200


def run_out(task: Any) -> None:
    """Let the lease and the attempt's deadline (with the tool's lag) be over."""
    past = database_now().replace(year=2020)
    Task.objects.filter(pk=task).update(lease_until=past)
    Call.objects.filter(task=task).update(deadline=past)
    leases_ran_out()


def test_without_a_report_the_outcome_is_unknown_and_a_late_report_closes_the_doubt(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    run_out(made["task"])
    task = tend(made["task"])
    assert (task.status, outside.call(made)["status"], outside.call(made)["state"]) == (
        "in_doubt",
        "unknown",
        "in_doubt",
    )
    lost = Event.objects.get(stream=made["task"], kind="slice.lost").data
    assert (lost["counted"], "no report" in lost["seen"]) == (False, True)
    late = outside.report(used, reference="pay-7")
    assert (late.status_code, late.json()["late"], late.json()["status"]) == (200, True, "done")
    assert outside.report(used).json()["late"] is True
    assert outside.report(used, "failed").json()["code"] == "gate-reported"
    assert kinds(made["task"]).count("call.late_receipt") == 1
    assert LateWrite.objects.filter(stream=made["task"]).count() == 1
    assert tend(made["task"]).status == "completed"


def test_until_the_deadline_and_the_lag_are_over_nobody_is_asked(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    outside.use(made)
    Task.objects.filter(pk=made["task"]).update(lease_until=database_now().replace(year=2020))
    leases_ran_out()
    task = tend(made["task"])
    call = Call.objects.get(task=task)
    assert (task.status, task.wait["kind"], call.state) == ("waiting", "look_up", "attempted")
    assert (task.wake_at - call.deadline).total_seconds() == PAY.lag


def test_reported_as_unknown_is_in_doubt_and_a_person_settles_it(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    outside.report(used, "unknown", reason="the line went dead")
    assert tend(made["task"]).status == "in_doubt"
    doubt = Event.objects.get(stream=made["task"], kind="call.in_doubt")
    assert "cannot tell" in doubt.data["reason"]
    call_settle(
        workspace=desk.workspace,
        task=made["task"],
        name=PAY.name,
        actor="person:silas",
        answer="happened",
        evidence="seen in the ledger",
    )
    assert tend(made["task"]).status == "completed"
    sound(made["task"], [Effect(key=made["key"], arguments=used["arguments"])])


def test_reported_as_failed_has_no_effect_and_the_next_call_is_a_new_one(desk: Desk, outside: Outside):
    task = outside.post("/tasks", title="Pay the bills", request_key="t-1").json()
    again = outside.post("/tasks", title="Pay the bills", request_key="t-1").json()
    assert (again["id"], task["agent"], task["status"]) == (task["id"], "payer", "waiting")
    first = ready(desk, outside, task=task["id"], name="first")
    busy = outside.request(task=task["id"], name="other")
    assert (busy.status_code, busy.json()["code"]) == (409, "gate-call-open")
    outside.report(outside.use(first).json(), "failed", reason="no such account")
    assert outside.call(first)["status"] == "closed"
    second = ready(desk, outside, task=task["id"], name="second", arguments={"amount": "1.00"})
    used = outside.use(second).json()
    outside.report(used)
    done = outside.post(f"/tasks/{task['id']}/finish", summary="All paid.").json()
    assert done["status"] == "queued"
    assert tend(task["id"]).status == "completed"
    assert outside.post(f"/tasks/{task['id']}/finish").json()["status"] == "completed"
    assert outside.request(task=task["id"]).json()["code"] == "not-now"
    sound(task["id"], [Effect(key=second["key"], arguments=used["arguments"])])


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


def test_arguments_that_do_not_fit_name_each_field_and_leave_nothing_behind(desk: Desk, outside: Outside):
    answer = outside.request(arguments={"amount": 5})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "arguments.amount")
    unknown = outside.request("no.such.tool")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "tool")
    assert answer["Content-Type"].startswith("application/problem+json")
    assert not Task.objects.exists()


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


def test_the_record_of_a_gate_call_verifies(desk: Desk, outside: Outside):
    made = ready(desk, outside, tool=CLEAN.name, arguments={"path": "/x"})
    outside.report(outside.use(made).json())
    tend(made["task"])
    assert not list(stream_verify(Task.objects.get(pk=made["task"]).pk).problems)
