"""The fourteen rules of approvals, each by its name."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from approvals_app.errors import ReasonRequired, ReviewFirst, StepUpRequired, TooLargeToReview
from approvals_app.models import ApprovalAnswer, ApprovalRequest, StandingGrant
from approvals_app.services import demands
from approvals_app.services.decide import approval_decide
from approvals_app.services.edit import approval_edit
from approvals_app.services.expire import approvals_expire
from approvals_app.services.grants import grant_create, grant_revoke
from approvals_app.services.presented import approval_opened, approval_reviewed
from approvals_app.services.reopen import approval_reopen
from approvals_app.status import Answer, Outcome, Via
from core.access import Right, Role
from core.clock import ClockTimestamp, database_now
from core.errors import Conflict, Forbidden, InvalidInput
from core.models import Membership
from tasks_app.models import Call, Event, Status, Task
from tasks_app.record.append import Stale
from tasks_app.services.stops import stop_set
from tests.desk import (
    CLEAN,
    GATE,
    HUSH,
    MOVE,
    PAY,
    Clean,
    Desk,
    as_person,
    attempt,
    cancel,
    claim,
    decide,
    group,
    kinds,
    park,
    parked,
    propose,
    rule,
    task_create,
)


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=request.pk)


def past(request: ApprovalRequest, column: str) -> None:
    ApprovalRequest.objects.filter(pk=request.pk).update(**{column: ClockTimestamp() - timedelta(seconds=1)})


def used(request: ApprovalRequest, **more: object) -> bool:
    return attempt(request.task_id, request.name, claim(request.task), **more).admitted


# --- 1 ----------------------------------------------------------------------------------------------


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


# --- 2 ----------------------------------------------------------------------------------------------


def test_rule_02_an_approval_is_used_once_and_a_resend_stays_under_it_until_its_time_is_over(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    token = claim(request.task)
    assert attempt(request.task_id, "clean", token, first=True).admitted
    assert not attempt(request.task_id, "clean", token, first=True).admitted
    Membership.objects.filter(user=desk.rhea).delete()
    rule(desk, "closed", "true", Outcome.DENY)
    assert attempt(request.task_id, "clean", token, first=False).admitted  # rights and policy are not asked again
    past(request, "run_by")
    assert not attempt(request.task_id, "clean", token, first=False).admitted
    assert kinds(request.task_id).count("approval.consumed") == 1


# --- 3 ----------------------------------------------------------------------------------------------


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


# --- 4 ----------------------------------------------------------------------------------------------


def test_rule_04_at_the_first_clock_a_request_expires_and_at_the_second_an_approval_is_too_old(desk: Desk):
    late, unused = parked(desk), parked(desk)
    decide(unused, desk.rhea)
    past(late, "decide_by")
    past(unused, "run_by")
    with pytest.raises(Conflict, match="expired"):  # also while no sweeper has come by
        decide(late, desk.rhea)
    assert used(unused) is False
    assert (fresh(late).status, fresh(unused).status) == ("expired", "lapsed")


def test_rule_04_another_group_is_asked_once_and_then_it_expires(desk: Desk):
    group(desk, "leads", desk.silas)
    rule(desk, "leads after an hour", "true", on_expiry="escalate", escalate_to="leads", decide_within=60.0)
    request = parked(desk)
    past(request, "decide_by")
    assert approvals_expire() == 1
    escalated = fresh(request)
    assert (escalated.status, escalated.group) == ("requested", "leads")
    assert escalated.decide_by > database_now()
    assert Task.objects.get(pk=request.task_id).status == Status.WAITING
    with pytest.raises(Forbidden, match="'leads' is asked"):
        decide(request, desk.rhea)
    past(request, "decide_by")
    assert approvals_expire() == 1
    assert fresh(request).status == "expired"
    assert [k for k in kinds(request.task_id) if "escalated" in k or "expired" in k] == [
        "approval.escalated",
        "approval.expired",
    ]


def test_rule_04_a_post_past_the_deadline_passes_the_request_on_and_decides_nothing(desk: Desk):
    group(desk, "leads", desk.silas)
    rule(desk, "leads after an hour", "true", on_expiry="escalate", escalate_to="leads")
    request = parked(desk)
    past(request, "decide_by")
    with pytest.raises(Conflict, match="'leads' is asked now"):
        decide(request, desk.rhea)
    assert fresh(request).group == "leads"
    decide(request, desk.silas)
    assert used(request)


def test_rule_04_what_is_kept_waiting_is_overdue_and_nothing_is_allowed_by_it(desk: Desk):
    rule(desk, "patient", "true", on_expiry="wait")
    request = parked(desk)
    past(request, "decide_by")
    assert approvals_expire() == 1
    assert approvals_expire() == 0
    assert (fresh(request).status, fresh(request).decide_by) == ("requested", None)
    assert fresh(request).overdue_at is not None
    assert not used(request)
    park(request.task, claim(request.task))
    decide(request, desk.rhea)
    assert used(request)


# --- 5 ----------------------------------------------------------------------------------------------


def test_rule_05_a_decider_who_lost_the_right_no_longer_counts(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    Membership.objects.filter(user=desk.rhea, role=Role.APPROVER).delete()
    assert not used(request)
    assert fresh(request).closed_reason == "rhea may no longer decide this"


@pytest.mark.parametrize(
    ("stricter", "why"),
    [
        ({"outcome": Outcome.DENY}, "it refuses this call"),
        ({"quorum": 2}, "it asks 2 of approvers, and 1 of those who approved count"),
        ({"group": "leads"}, "it asks 1 of leads, and 0 of those who approved count"),
        ({"step_up_within": 60.0}, "it wants a second factor from those who approve"),
    ],
)
def test_rule_05_a_policy_that_became_stricter_asks_again(desk: Desk, stricter, why):
    group(desk, "leads", desk.silas)
    request = parked(desk)
    decide(request, desk.rhea)
    rule(desk, "careful", "tool == 'desk.clean'", **stricter)
    assert not used(request)
    assert fresh(request).closed_reason == f"policy became stricter: {why} (rule 'careful', version 1)"
    assert Call.objects.get(task=request.task_id).state == "voided"  # the agent decides afresh, and is asked anew


def test_rule_05_a_policy_that_changed_and_is_no_stricter_stands_in_nobodys_way(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    rule(desk, "elsewhere", "tool == 'desk.pay'", Outcome.DENY)
    rule(desk, "lenient", "tool == 'desk.clean'", quorum=1)
    assert used(request)


def test_rule_05_a_stop_between_decision_and_attempt_holds_the_call_and_leaves_it_approved(desk: Desk):
    """The stop is compared by the statement that appends the attempt; see the tests of stop switches for its race."""
    request = parked(desk)
    decide(request, desk.rhea)
    stop_set(
        workspace=desk.workspace, scope="tool", name="desk.clean", reason="r", user=desk.silas, actor="person:silas"
    )
    assert decide(request, desk.rhea).new is False
    assert fresh(request).status == "approved"


# --- 6 ----------------------------------------------------------------------------------------------


def test_rule_06_who_started_or_owns_the_task_or_edited_the_arguments_never_counts(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    with pytest.raises(Forbidden, match="own this task"):
        decide(request, desk.owen)
    edited = edit(request, desk.rhea, amount="10.00")
    with pytest.raises(Forbidden, match="You edited the arguments: somebody else has to decide"):
        decide(edited, desk.rhea)
    decide(edited, desk.silas)


def test_rule_06_a_party_is_not_counted_in_a_quorum_either(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    decide(request, desk.rhea)
    decide(request, desk.silas)
    Task.objects.filter(pk=request.task_id).update(owner=desk.rhea)  # handed over after she had approved
    assert not used(request)
    assert fresh(request).closed_reason == "rhea may no longer decide this"


@pytest.mark.parametrize("how", ["decide", "edit", "grant"])
def test_rule_06_an_agents_credential_can_do_nothing_to_an_approval(desk: Desk, how):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    agent = as_person(desk.rhea, desk.workspace, agent=True, scopes=frozenset(Right), token="bot")
    acts = {
        "edit": lambda: edit(request, desk.rhea, amount="1.00", principal=agent),
        "grant": lambda: grant(request, desk, principal=agent),
        "decide": lambda: decide(request, desk.rhea, agent=True, scopes=frozenset(Right), token="bot"),
    }
    with pytest.raises(Forbidden, match="agent's token can never"):
        acts[how]()
    assert not ApprovalAnswer.objects.exists()


# --- 7 ----------------------------------------------------------------------------------------------


def edit(request: ApprovalRequest, user, *, digest=None, principal=None, reason="too much", **arguments):
    return approval_edit(
        approval=request.pk,
        principal=principal or as_person(user, request.workspace),
        arguments=arguments,
        reason=reason,
        digest=digest or request.digest,
        via=Via.PAGE,
    )


def test_rule_07_an_edit_makes_a_new_call_and_the_agents_own_is_withdrawn(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    edited = edit(request, desk.rhea, amount="10.00")
    old, new = (
        Call.objects.get(task=request.task_id, name="move"),
        Call.objects.get(task=request.task_id, name="move #2"),
    )
    assert (old.state, old.replaced_by, new.state) == ("withdrawn", "move #2", "asked")
    assert (edited.status, edited.replaces, edited.editor) == ("requested", request, desk.rhea)
    assert edited.digest == new.digest != request.digest
    assert (fresh(request).status, edited.line) == ("voided", "Move 10.00 to acme")
    withdrawn = Event.objects.get(stream=request.task_id, kind="call.withdrawn")
    assert (withdrawn.seq, withdrawn.data["reason"]) == (old.answer_seq, "edited by rhea (page): too much")
    with pytest.raises(Conflict, match="edited by rhea"):
        decide(request, desk.silas)
    decide(edited, desk.silas)
    token = claim(request.task)
    assert attempt(request.task_id, "move #2", token, contract=MOVE).admitted
    assert not attempt(request.task_id, "move", token, contract=MOVE).admitted


def test_rule_07_the_quorum_starts_anew_and_policy_runs_on_the_edit(desk: Desk):
    rule(desk, "two for much", "tool == 'desk.move' && double(arguments.amount) > 50.0", quorum=2, position=1)
    rule(desk, "never round", "tool == 'desk.move' && arguments.amount == '13.00'", Outcome.DENY, position=2)
    rule(desk, "little is free", "tool == 'desk.move'", Outcome.ALLOW, position=3)
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    assert request.quorum == 2
    decide(request, desk.rhea)
    with pytest.raises(Conflict, match="rule 'never round'"):
        edit(request, desk.silas, amount="13.00")
    edited = edit(request, desk.silas, amount="10.00")
    assert (edited.quorum, edited.rule, edited.answers.count()) == (1, "little is free", 0)
    assert edited.status == "requested"  # what a person has changed is decided by another, whatever policy says of it
    again = edit(edited, desk.rhea, amount="70.00")
    assert (again.quorum, again.name) == (2, "move #3")


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({"to": "mallory"}, "to", "lets nobody change it"),
        ({"extra": 1}, "extra", "lets nobody change it"),
        ({"amount": ["1"]}, "amount", "valid string"),
    ],
)
def test_rule_07_only_what_the_contract_lists_may_change_and_it_is_validated(desk: Desk, arguments, field, reason):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    with pytest.raises(InvalidInput) as refused:
        edit(request, desk.rhea, **arguments)
    assert refused.value.fields["errors"][0]["field"] == field
    assert reason in refused.value.fields["errors"][0]["reason"]
    assert (fresh(request).status, Call.objects.filter(task=request.task_id).count()) == ("requested", 1)


def test_rule_07_an_edit_of_another_digest_or_after_a_decision_is_refused_and_a_viewer_may_not(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    with pytest.raises(Conflict, match="read the card again"):
        edit(request, desk.rhea, amount="1.00", digest="0" * 64)
    with pytest.raises(Forbidden, match="needs the right"):
        edit(request, desk.vera, amount="1.00")
    with pytest.raises(InvalidInput, match="Nothing differs"):
        edit(request, desk.rhea, amount="90.00")
    decide(request, desk.rhea)
    with pytest.raises(Conflict, match="Already approved by rhea"):
        edit(request, desk.silas, amount="1.00")


# --- 8 ----------------------------------------------------------------------------------------------


def test_rule_08_siblings_with_equal_arguments_are_separate_and_answered_in_any_order(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    one = propose(task, CLEAN, "c-1", {"path": "/a"}, token=token)
    two = propose(task, CLEAN, "c-2", {"path": "/a"}, token=token, ordinal=1)
    park(task, token)
    assert one.pk != two.pk
    assert one.digest == two.digest
    decide(two, desk.rhea)
    token = claim(task)
    assert attempt(task.pk, "c-2", token).admitted  # starts at once; its sibling still waits
    assert attempt(task.pk, "c-1", token).call_state == "asked"
    decide(one, desk.rhea, Answer.DENIED)
    assert (fresh(one).status, fresh(two).status) == ("denied", "consumed")


# --- 9 ----------------------------------------------------------------------------------------------


def test_rule_09_no_means_no_until_a_person_asks_for_it_again(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea, Answer.DENIED, reason="keep the logs")

    def said(**arguments):
        whole = Clean(**arguments).model_dump()
        return GATE.assess(task=Task.objects.get(pk=request.task_id), contract=CLEAN, arguments=whole, cost=None)

    assert said(path="/scratch/a").outcome == "deny"
    assert "keep the logs" in said(path="/scratch/a").reason
    assert said(path="/scratch/b").outcome == "ask"
    rule(desk, "clean freely", "tool == 'desk.clean'", Outcome.ALLOW)
    assert said(path="/scratch/a").outcome == "deny"  # a rule that allows does not take a person's no back
    approval_reopen(approval=request.pk, principal=as_person(desk.silas, desk.workspace), reason="now it may go")
    assert said(path="/scratch/a").outcome == "ask"


# --- 10 ---------------------------------------------------------------------------------------------


def test_rule_10_a_cancel_voids_every_pending_and_unused_approval_in_its_transaction(desk: Desk):
    rule(desk, "two", "arguments.path == '/b'", quorum=2)
    task = task_create(desk)
    token = claim(task)
    requests = [
        propose(task, CLEAN, f"c-{number}", {"path": path}, token=token, ordinal=number)
        for number, path in enumerate(["/a", "/b", "/c"])
    ]
    park(task, token)
    decide(requests[0], desk.rhea)
    decide(requests[1], desk.rhea)  # one of two
    cancel(task.pk)
    assert [fresh(one).status for one in requests] == ["voided"] * 3
    voided = Event.objects.filter(stream=task.pk, kind="approval.voided").values_list("at", flat=True)
    assert set(voided) == {Event.objects.get(stream=task.pk, kind="task.cancel_requested").at}
    with pytest.raises(Conflict, match="Voided: task cancelled"):
        decide(requests[1], desk.silas)


# --- 11 ---------------------------------------------------------------------------------------------


def test_rule_11_case_25_a_get_never_decides_and_a_stranger_reads_what_anybody_reads(desk: Desk):
    request = parked(desk)
    page = reverse("approval", args=[request.pk])
    stranger, rhea, tobin = Client(), Client(enforce_csrf_checks=True), Client()
    rhea.force_login(desk.rhea)
    tobin.force_login(desk.tobin)
    post = {"decision": "approved", "digest": request.digest, "reason": ""}
    for _ in range(3):
        stranger.get(page, headers={"Purpose": "prefetch"})
        stranger.head(page)
        rhea.get(page, post)
        rhea.get(f"/api/v1/approvals/{request.pk}/decide", post)
    assert rhea.post(page, post).status_code == 403
    unknown = reverse("approval", args=["01900000-0000-7000-8000-000000000000"])
    answers = [tobin.get(page), tobin.post(page, post), tobin.get(unknown), tobin.post(unknown, post)]
    assert {answer.status_code for answer in answers} == {404}
    assert (fresh(request).status, kinds(request.task_id).count("approval.decided")) == ("requested", 0)


# --- 12 ---------------------------------------------------------------------------------------------


def approve_on_page(request: ApprovalRequest, user):
    return approval_decide(
        approval=request.pk,
        principal=as_person(user, request.workspace),
        decision=Answer.APPROVED,
        reason="",
        digest=request.digest,
        via=Via.PAGE,
    )


def test_rule_12_what_does_not_fit_on_the_card_is_reviewed_before_it_is_approved(desk: Desk):
    request = parked(desk, arguments={"path": "/x" * demands.CARD_BYTES})
    approval_opened(approval=request.pk, user=desk.rhea)
    with pytest.raises(ReviewFirst):
        approve_on_page(request, desk.rhea)
    approval_reviewed(approval=request.pk, user=desk.silas)
    with pytest.raises(ReviewFirst):  # another person's reading is not hers
        approve_on_page(request, desk.rhea)
    approval_reviewed(approval=request.pk, user=desk.rhea)
    assert approve_on_page(request, desk.rhea).decided


def test_rule_12_what_is_too_large_to_review_cannot_be_approved_and_can_be_denied(desk: Desk, monkeypatch):
    monkeypatch.setattr(demands, "MOST_REVIEWED", 10_000)
    request = parked(desk, arguments={"path": "/x" * 5_100})
    for via in (decide, lambda request, user: approve_on_page(request, user)):
        with pytest.raises(TooLargeToReview, match="too large"):
            via(request, desk.rhea)
    decide(request, desk.rhea, Answer.DENIED)


# --- 13 ---------------------------------------------------------------------------------------------


def grant(request: ApprovalRequest, desk: Desk, *, uses=2, seconds=600, principal=None) -> StandingGrant:
    return grant_create(
        approval=request.pk,
        principal=principal or as_person(desk.rhea, desk.workspace),
        ends_at=database_now() + timedelta(seconds=seconds),
        most_uses=uses,
        reason="nightly",
    )


def test_rule_13_a_grant_answers_this_exact_call_so_often_until_its_end_and_each_use_names_it(desk: Desk):
    given = grant(parked(desk), desk)
    for _ in range(2):
        request = parked(desk)
        assert (request.status, request.decided_via, request.grant) == ("approved", "grant", given)
        assert used(request)
        consumed = Event.objects.get(stream=request.task_id, kind="approval.consumed")
        assert consumed.data["grant"] == str(given.pk)
    given.refresh_from_db()
    assert given.uses == 2
    assert parked(desk).status == "requested"  # used up
    assert parked(desk, arguments={"path": "/scratch/b"}).status == "requested"  # another call


def test_rule_13_a_grant_that_was_revoked_or_has_ended_or_is_used_up_admits_nothing_more(desk: Desk):
    first = grant(parked(desk), desk, uses=1)
    one, two = parked(desk), parked(desk)
    assert used(one)
    assert not used(two)
    assert fresh(two).closed_reason == "the standing grant is used up"
    second = grant(parked(desk), desk)
    three = parked(desk)
    grant_revoke(grant=second.pk, principal=as_person(desk.silas, desk.workspace), reason="enough")
    assert not used(three)
    assert fresh(three).closed_reason == "the standing grant was revoked"
    third = grant(parked(desk), desk)
    four = parked(desk)
    StandingGrant.objects.filter(pk=third.pk).update(
        granted_at=ClockTimestamp() - timedelta(days=2), ends_at=ClockTimestamp() - timedelta(seconds=1)
    )
    assert not used(four)
    assert first.owner == desk.rhea
    told = Event.objects.filter(stream=desk.workspace.pk, kind="grant.changed").count()
    assert told == 4  # given three times, revoked once


def test_rule_13_nobody_grants_their_own_tasks_calls_or_what_several_must_approve(desk: Desk):
    request = parked(desk)
    with pytest.raises(Forbidden, match="own this task"):
        grant(request, desk, principal=as_person(desk.owen, desk.workspace))
    rule(desk, "two", "true", quorum=2)
    with pytest.raises(Conflict, match="several people"):
        grant(parked(desk), desk)
    with pytest.raises(InvalidInput, match="90 days"):
        grant(request, desk, seconds=91 * 86_400)


def test_rule_13_a_grant_whose_owner_lost_the_right_answers_nothing(desk: Desk):
    grant(parked(desk), desk)
    Membership.objects.filter(user=desk.rhea).delete()
    assert parked(desk).status == "requested"


# --- 14 ---------------------------------------------------------------------------------------------


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


# --- what a rule of policy demands besides ------------------------------------------------------------


def test_a_rule_may_want_a_reason_for_a_denial_or_for_every_answer(desk: Desk):
    rule(desk, "why not", "arguments.path == '/a'", reason_rule="denial")
    rule(desk, "why at all", "arguments.path == '/b'", reason_rule="always")
    first, second = parked(desk, arguments={"path": "/a"}), parked(desk, arguments={"path": "/b"})
    for request, answer in ((first, Answer.DENIED), (second, Answer.DENIED), (second, Answer.APPROVED)):
        with pytest.raises(ReasonRequired):
            decide(request, desk.rhea, answer, reason="  ")
    decide(first, desk.rhea)
    decide(second, desk.rhea, reason="asked for by phone")


def test_a_rule_may_want_a_second_factor_that_was_shown_lately(desk: Desk):
    rule(desk, "careful", "risk == 'high'", step_up_within=60.0)
    request = parked(desk, PAY, name="pay")
    now = database_now()
    for shown in (None, now - timedelta(seconds=61)):
        with pytest.raises(StepUpRequired) as refused:
            decide(request, desk.rhea, stepped_up_at=shown)
        assert (refused.value.code, refused.value.fields["max_age"]) == ("step-up-required", 60.0)
    with transaction.atomic():
        assert ApprovalAnswer.objects.count() == 0
    decide(request, desk.rhea, stepped_up_at=now)
    assert used(request, contract=PAY)


def test_a_denial_waits_for_no_second_factor(desk: Desk):
    rule(desk, "careful", "risk == 'high'", step_up_within=60.0)
    assert decide(parked(desk, PAY, name="pay"), desk.rhea, Answer.DENIED).decided


def test_only_members_of_the_group_count_and_the_right_is_needed_besides(desk: Desk):
    group(desk, "leads", desk.silas, desk.vera)
    rule(desk, "leads", "true", group="leads")
    request = parked(desk)
    with pytest.raises(Forbidden, match="'leads' is asked, and you do not belong to it"):
        decide(request, desk.rhea)
    with pytest.raises(Forbidden, match="needs the right"):
        decide(request, desk.vera)
    decide(request, desk.silas)
    group(desk, "leads", desk.rhea)
    assert not used(request)
    assert fresh(request).closed_reason == "silas may no longer decide this"


def test_a_tool_that_asks_nobody_is_asked_for_where_a_rule_says_so(desk: Desk):
    rule(desk, "hush", "tool == 'desk.hush' && arguments.deep")
    assert parked(desk, HUSH, arguments={"path": "/a", "deep": True}).rule == "hush"
    task = task_create(desk)
    assert propose(task, HUSH, "quiet", {"path": "/a"}, token=claim(task)) is None
