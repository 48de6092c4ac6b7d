"""The gate: an agent outside asks, waits, uses once, reports. Its calls are never sent from here."""

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.services.edit import approval_edit
from approvals_app.status import Outcome, Via
from core.clock import database_now
from tasks_app import registry
from tasks_app.finders import tasks_due
from tasks_app.models import Call, Task
from tasks_app.record.invariants import Effect
from tasks_app.testing import slice_here, worker_here
from tests.desk import HUSH, MOVE, PAY, WALLED, Desk, as_person, decide, kinds, parked, rule
from tests.integration.approvals_app.outside import Outside, asked, ready, sound, tend


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


def test_its_card_says_that_the_call_runs_outside_without_walls_of_ours(desk: Desk, outside: Outside, client):
    request = asked(outside.request().json())
    client.force_login(desk.rhea)
    page = client.get(f"/approvals/{request.pk}/").content.decode()
    assert "Handrail puts no walls around it" in page
    assert "The program that asks makes the call itself" in page
    assert "asks for nothing else in this task" in page
    assert "gate.finished" not in page
    for claimed in ("walled", "A call may use", "if a worker is lost", "If a worker is lost"):
        assert claimed not in page
    assert (
        "A call may use" in client.get(f"/approvals/{parked(desk, WALLED).pk}/").content.decode()
    )  # one of a worker's


def test_its_card_says_so_too_where_its_tool_is_not_known(desk: Desk, outside: Outside, client, monkeypatch):
    request = asked(outside.request().json())
    monkeypatch.delitem(registry._tools, (PAY.name, PAY.version))
    client.force_login(desk.rhea)
    page = client.get(f"/approvals/{request.pk}/").content.decode()
    assert "Handrail puts no walls around it" in page
    assert "this process does not carry its tool" in page


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


@pytest.mark.parametrize("name", [".", "..", "a/b", "/"])
def test_a_name_that_its_own_address_cannot_hold_is_refused(outside: Outside, name: str):
    refused = outside.request(name=name)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "name")
