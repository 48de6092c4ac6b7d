"""Rules 1 to 3: bound to one call, used once, decided once."""

import pytest

from approvals_app.status import Answer, Outcome
from core.errors import Conflict
from core.models import Membership
from tasks_app.models import Call, Event, Status, Task
from tests.desk import Desk, attempt, claim, decide, kinds, park, parked, rule
from tests.integration.approvals_app.rules import fresh, past, used


def test_rule_01_what_is_approved_is_what_was_shown_and_what_runs(desk: Desk):
    request = parked(desk)
    with pytest.raises(Conflict, match="not the call"):
        decide(request, desk.rhea, digest="0" * 64)
    decide(request, desk.rhea)
    decided = Event.objects.get(stream=request.task_id, kind="approval.decided")
    assert decided.data["digest"] == request.digest == Call.objects.get(task=request.task_id).digest
    said = attempt(request.task_id, "clean", claim(request.task), digest="1" * 64)
    assert (said.admitted, said.call_state) == (False, "voided")
    assert fresh(request).closed_reason == "the call is not the one that was approved"


def test_rule_02_an_approval_is_used_once_and_a_resend_stays_under_it_until_its_time_is_over(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    token = claim(request.task)
    assert attempt(request.task_id, "clean", token, first=True).admitted
    assert not attempt(request.task_id, "clean", token, first=True).admitted
    Membership.objects.filter(user=desk.rhea).delete()
    rule(desk, "closed", "true", Outcome.DENY)
    assert attempt(request.task_id, "clean", token, first=False).admitted  # rights and policy are not asked again
    assert not attempt(request.task_id, "clean", token, first=False, digest="1" * 64).admitted
    Task.objects.filter(pk=request.task_id).update(status=Status.PAUSED)
    assert not attempt(request.task_id, "clean", token, first=False).admitted
    Task.objects.filter(pk=request.task_id).update(status=Status.RUNNING)
    past(request, "run_by")
    assert not attempt(request.task_id, "clean", token, first=False).admitted
    assert kinds(request.task_id).count("approval.consumed") == 1


def test_rule_03_one_decision_the_loser_reads_who_decided_and_the_same_answer_is_the_same_answer(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea, Answer.DENIED)
    assert decide(request, desk.rhea, Answer.DENIED).new is False
    with pytest.raises(Conflict, match="Already denied by rhea at ") as refused:
        decide(request, desk.silas)
    assert refused.value.fields["decided_by"] == "rhea"
    assert kinds(request.task_id).count("approval.decided") == 1


def test_rule_03_of_several_people_each_answers_once_and_the_last_one_decides(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    first = decide(request, desk.rhea, reason="fine by me")
    assert (first.new, first.decided) == (True, False)
    assert fresh(request).status == "requested"
    assert Task.objects.get(pk=request.task_id).status == Status.WAITING
    assert decide(request, desk.rhea).new is False  # again is the same answer, not a second one
    assert not used(request)
    park(request.task, claim(request.task))
    second = decide(request, desk.silas)
    assert (second.new, second.decided) == (True, True)
    told = list(Event.objects.filter(stream=request.task_id, kind="approval.answered").order_by("seq"))
    assert [(one.data["by"], one.data["so_far"], one.data["quorum"]) for one in told] == [
        ("rhea", 1, 2),
        ("silas", 2, 2),
    ]
    assert kinds(request.task_id).count("approval.decided") == 1
    assert used(request)


def test_rule_03_one_denial_ends_what_several_must_approve_and_whoever_approved_may_still_deny(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    decide(request, desk.rhea)
    decide(request, desk.rhea, Answer.DENIED, reason="I have read it again")
    call = Call.objects.get(task=request.task_id)
    assert (fresh(request).status, call.state) == ("denied", "denied")
    assert Event.objects.get(stream=request.task_id, seq=call.answer_seq).kind == "approval.decided"
