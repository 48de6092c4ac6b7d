"""What became of a call of an agent outside: reported, not reported, reported late."""

import threading
from typing import Any

import pytest
from django.db import connection

from core.clock import database_now
from tasks_app.finders import leases_ran_out
from tasks_app.models import Call, Event, LateWrite, Task
from tasks_app.record.invariants import Effect
from tasks_app.record.verify import stream_verify
from tasks_app.runtime.ending import NO_LEASE
from tasks_app.services import external_report
from tasks_app.services.settle import call_settle
from tests.desk import CLEAN, PAY, Desk, kinds
from tests.integration.approvals_app.outside import Outside, ready, run_out, sound, tend
from tests.locks import lock_is_awaited
from tests.processes import wait_for


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


def test_a_report_after_the_deadline_is_a_late_receipt_though_no_sweeper_has_come_by(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    Task.objects.filter(pk=made["task"]).update(lease_until=database_now().replace(year=2020))
    late = outside.report(used)
    assert (late.status_code, late.json()["late"]) == (200, True)
    assert "call.outcome" not in kinds(made["task"])
    assert LateWrite.objects.filter(stream=made["task"]).count() == 1


def test_a_report_whose_deadline_passes_while_it_is_recorded_is_a_late_receipt(
    desk: Desk, outside: Outside, monkeypatch: pytest.MonkeyPatch
):
    """Between the look at the lease and the append: what the agent did is not lost."""
    made = ready(desk, outside)
    used = outside.use(made).json()
    values = external_report.outcome_values

    def late(*given: Any) -> dict[str, Any]:
        Task.objects.filter(pk=made["task"]).update(lease_until=database_now())
        return values(*given)

    monkeypatch.setattr(external_report, "outcome_values", late)
    said = outside.report(used)
    assert (said.status_code, said.json()["late"], said.json()["status"]) == (200, True, "done")
    assert kinds(made["task"]).count("call.late_receipt") == 1


@pytest.mark.parametrize("outcome", ["succeeded", "unknown"])
def test_a_late_report_that_is_sent_twice_at_once_is_kept_once(
    outcome: str, desk: Desk, outside: Outside, monkeypatch: pytest.MonkeyPatch
):
    """As a client does that had no answer: the second waits for the first, and hears the same."""
    made = ready(desk, outside)
    used = outside.use(made).json()
    Task.objects.filter(pk=made["task"]).update(lease_until=database_now().replace(year=2020))
    keep, answers = external_report.late_keep, []

    def again() -> None:
        answers.append(outside.report(used, outcome))
        connection.close()

    rival = threading.Thread(target=again)

    def keep_slowly(**given: Any) -> None:
        if not rival.ident:
            rival.start()
            wait_for(lambda: not rival.is_alive() or lock_is_awaited(), what="the second report")
        keep(**given)

    monkeypatch.setattr(external_report, "late_keep", keep_slowly)
    answers.append(outside.report(used, outcome))
    rival.join()
    answers.append(outside.report(used, outcome))
    assert [(one.status_code, one.json()["late"]) for one in answers] == [(200, True)] * 3
    assert LateWrite.objects.filter(stream=made["task"]).count() == 1
    assert kinds(made["task"]).count("call.late_receipt") == (1 if outcome == "succeeded" else 0)


def test_a_report_after_the_task_has_ended_is_kept(desk: Desk, outside: Outside):
    made = ready(desk, outside)
    used = outside.use(made).json()
    Task.objects.filter(pk=made["task"]).update(status="failed", ended_at=database_now(), **NO_LEASE)
    said = outside.report(used)
    assert (said.status_code, said.json()["late"]) == (200, True)
    assert LateWrite.objects.filter(stream=made["task"]).count() == 1


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


def test_the_record_of_a_gate_call_verifies(desk: Desk, outside: Outside):
    made = ready(desk, outside, tool=CLEAN.name, arguments={"path": "/x"})
    outside.report(outside.use(made).json())
    tend(made["task"])
    assert not list(stream_verify(Task.objects.get(pk=made["task"]).pk).problems)
