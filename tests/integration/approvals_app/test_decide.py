"""A decision is made once, by a person with the right, on what was shown."""

from datetime import timedelta

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, ApprovalStatus
from core.access import Right, Role
from core.clock import ClockTimestamp
from core.errors import Conflict, Forbidden, NotFound
from core.models import Membership
from tasks_app.models import Call, Event, Status, Task
from tests.desk import CLEAN, GATE, Desk, as_person, attempt, claim, decide, kinds, park, parked, propose, task_create


def _pass_deadline(request: ApprovalRequest) -> None:
    past = ClockTimestamp() - timedelta(seconds=1)
    ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=past)


def test_a_parked_task_holds_no_lease_and_an_approval_makes_it_due_work(desk: Desk):
    request = parked(desk)
    task = Task.objects.get(pk=request.task_id)
    assert (task.status, task.lease_nonce, task.wake_at) == (Status.WAITING, None, None)

    outcome = decide(request, desk.rhea, reason="fine")

    task.refresh_from_db()
    assert outcome.new
    assert task.status == Status.QUEUED
    assert task.wake_at is not None
    assert task.wait is None
    assert Call.objects.get(task=task).state == "approved"
    event = Event.objects.get(stream=task.pk, kind="approval.decided")
    assert event.actor == "person:rhea"
    request.refresh_from_db()
    assert event.data["digest"] == request.digest
    assert event.data["run_by"] == request.run_by.isoformat()
    assert (request.status, request.decided_by, request.decided_via) == ("approved", desk.rhea, "api")


def test_a_denial_settles_the_call_with_its_reason_as_the_answer(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea, Answer.DENIED, reason="keep the logs")
    call = Call.objects.get(task=request.task_id)
    assert call.state == "denied"
    answer = Event.objects.get(stream=request.task_id, seq=call.answer_seq)
    assert (answer.kind, answer.data["reason"]) == ("approval.decided", "keep the logs")
    assert call.settled_seq == call.answer_seq
    assert not attempt(request.task_id, "clean", claim(request.task)).admitted


def test_rule_1_bound_a_decision_on_another_digest_is_refused(desk: Desk):
    request = parked(desk)
    with pytest.raises(Conflict, match="not the call"):
        decide(request, desk.rhea, digest="0" * 64)
    request.refresh_from_db()
    assert request.status == ApprovalStatus.REQUESTED


def test_rule_3_the_loser_is_told_who_decided_what_and_when(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    with pytest.raises(Conflict) as refused:
        decide(request, desk.silas, Answer.DENIED)
    request.refresh_from_db()
    assert f"Already approved by rhea at {request.decided_at:%Y-%m-%d %H:%M:%S} UTC" in refused.value.detail
    assert refused.value.fields["decided_by"] == "rhea"


def test_rule_3_the_same_answer_from_the_same_person_is_the_same_answer_also_once_it_is_used(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    assert not decide(request, desk.rhea).new
    token = claim(request.task)
    assert attempt(request.task_id, "clean", token).admitted
    again = decide(request, desk.rhea)
    assert (again.new, again.request.status) == (False, ApprovalStatus.CONSUMED)
    assert kinds(request.task_id).count("approval.decided") == 1
    with pytest.raises(Conflict, match="Already approved by rhea"):
        decide(request, desk.silas)  # the same choice by somebody else is not the same answer


def test_rule_4_past_its_deadline_nothing_is_decided_though_no_sweeper_runs(desk: Desk):
    request = parked(desk)
    _pass_deadline(request)
    with pytest.raises(Conflict, match="expired"):
        decide(request, desk.rhea)
    request.refresh_from_db()
    assert request.status == ApprovalStatus.EXPIRED
    task = Task.objects.get(pk=request.task_id)
    assert (task.status, Call.objects.get(task=task).state) == (Status.QUEUED, "expired")
    with pytest.raises(Conflict, match="expired"):
        decide(request, desk.rhea)
    assert kinds(task.pk).count("approval.expired") == 1


def test_rule_6_who_owns_or_started_the_task_never_counts(desk: Desk):
    request = parked(desk)
    with pytest.raises(Forbidden, match="started this task and own this task"):
        decide(request, desk.owen)
    request.policy = {}
    request.save()
    with pytest.raises(Forbidden, match="own this task"):  # also when the row forgot: the task is asked as well
        decide(request, desk.owen)
    assert decide(request, desk.silas).new


def test_rule_6_a_child_counts_as_started_by_who_started_its_root(desk: Desk):
    request = parked(desk)
    root = task_create(desk)
    Task.objects.filter(pk=request.task_id).update(parent=root, owner=desk.silas)
    with pytest.raises(Forbidden, match="started this task"):
        decide(request, desk.owen)


def test_a_viewer_may_look_but_not_decide_and_an_outsider_learns_nothing(desk: Desk):
    request = parked(desk)
    with pytest.raises(Forbidden, match="approvals:decide"):
        decide(request, desk.vera)
    with pytest.raises(NotFound):
        decide(request, desk.tobin)
    desk.rhea.is_active = False
    desk.rhea.save()
    with pytest.raises(NotFound):
        decide(request, desk.rhea)


def test_rule_11_an_agents_token_never_decides_and_a_persons_needs_the_scope(desk: Desk):
    request = parked(desk)
    with pytest.raises(Forbidden, match="agent's token"):
        decide(request, desk.rhea, token="robot", agent=True, scopes=frozenset(Right))
    with pytest.raises(Forbidden, match="scope"):
        decide(request, desk.rhea, token="mine", scopes=frozenset({Right.TASKS_READ}))
    assert decide(request, desk.rhea, token="mine", scopes=frozenset({Right.APPROVALS_DECIDE})).new


def test_case_12_an_early_decision_is_seen_by_the_worker_that_still_holds_the_lease(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    request = propose(task, CLEAN, "clean", {"path": "/a"}, token=token)
    task.refresh_from_db()
    seen = task.head_seq
    decide(request, desk.rhea)
    task.refresh_from_db()
    assert (task.status, task.lease_epoch) == (Status.RUNNING, token.epoch)
    with pytest.raises(Conflict, match="moved"):  # it would have parked for good; now it reads again
        park(task, token, expected=seen)
    assert attempt(task.pk, "clean", token).admitted


def test_case_15_each_answer_lands_on_its_own_call_in_any_order(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    first = propose(task, CLEAN, "c-1", {"path": "/scratch/a"}, token=token)
    third = propose(task, CLEAN, "c-3", {"path": "/scratch/b"}, token=token, ordinal=1)
    fourth = propose(task, CLEAN, "c-4", {"path": "/scratch/a"}, token=token, ordinal=2)
    assert first.digest == fourth.digest
    park(task, token)
    decide(fourth, desk.rhea, Answer.DENIED)
    decide(third, desk.rhea)
    second_life = claim(task)
    assert attempt(task.pk, "c-3", second_life).admitted
    park(task, second_life)
    decide(first, desk.silas)
    states = dict(Call.objects.filter(task=task).values_list("name", "state"))
    assert states == {"c-1": "approved", "c-3": "attempted", "c-4": "denied"}


def test_rule_9_no_means_no_until_a_person_asks_for_it_again(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea, Answer.DENIED, reason="keep the logs")
    same = {"deep": False, "path": "/scratch/a"}  # other order, other name, defaults written out
    said = GATE.assess(task=request.task, contract=CLEAN, arguments=same)
    assert said.outcome == "deny"
    assert said.policy["denial"] == str(request.pk)
    assert "denied by rhea" in said.reason
    assert "keep the logs" in said.reason
    other = GATE.assess(task=request.task, contract=CLEAN, arguments={**same, "path": "/scratch/b"})
    assert other.outcome == "ask"
    elsewhere = GATE.assess(task=task_create(desk), contract=CLEAN, arguments=same)
    assert elsewhere.outcome == "ask"

    approval_reopen(
        approval=request.pk, principal=as_person(desk.silas, desk.workspace), reason="the logs are safe now"
    )
    approval_reopen(approval=request.pk, principal=as_person(desk.silas, desk.workspace), reason="again")
    assert GATE.assess(task=request.task, contract=CLEAN, arguments=same).outcome == "ask"
    assert kinds(request.task_id).count("approval.reopened") == 1


def test_an_unused_approval_can_be_taken_back_a_used_one_cannot(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    approval_revoke(approval=request.pk, principal=as_person(desk.silas, desk.workspace), reason="wrong host")
    assert Call.objects.get(task=request.task_id).state == "voided"
    assert not attempt(request.task_id, "clean", claim(request.task)).admitted
    with pytest.raises(Conflict, match="Revoked: wrong host"):
        decide(request, desk.rhea)

    used = parked(desk)
    decide(used, desk.rhea)
    attempt(used.task_id, "clean", claim(used.task))
    with pytest.raises(Conflict, match="has been used"):
        approval_revoke(approval=used.pk, principal=as_person(desk.silas, desk.workspace), reason="too late")


def test_a_decider_who_lost_the_right_before_the_use_voids_the_approval(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    Membership.objects.filter(user=desk.rhea).update(role=Role.VIEWER)
    said = attempt(request.task_id, "clean", claim(request.task))
    assert (said.admitted, said.call_state) == (False, "voided")
    request.refresh_from_db()
    assert request.status == ApprovalStatus.VOIDED
    assert "rhea may no longer decide" in request.closed_reason
