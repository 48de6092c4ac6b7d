"""What closes a call of an agent outside: nothing of it may be used."""

from approvals_app.models import ApprovalRequest
from approvals_app.services.expire import approvals_expire
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, ApprovalStatus
from core.clock import database_now
from tasks_app.models import Task
from tasks_app.record.invariants import Effect
from tasks_app.services.stops import stop_set
from tests.desk import Desk, as_person, cancel, decide, kinds
from tests.integration.approvals_app.outside import Outside, asked, ready, sound, tend


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


def test_arguments_that_do_not_fit_name_each_field_and_leave_nothing_behind(desk: Desk, outside: Outside):
    answer = outside.request(arguments={"amount": 5})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "arguments.amount")
    unknown = outside.request("no.such.tool")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "tool")
    assert answer["Content-Type"].startswith("application/problem+json")
    assert not Task.objects.exists()
