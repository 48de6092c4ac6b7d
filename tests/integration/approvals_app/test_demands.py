"""What a rule of policy demands of those who decide: a reason, a second factor, a group."""

from datetime import timedelta

import pytest
from django.db import transaction

from approvals_app.errors import ReasonRequired, StepUpRequired
from approvals_app.models import ApprovalAnswer
from approvals_app.status import Answer
from core.clock import database_now
from core.errors import Forbidden
from tests.desk import HUSH, PAY, Desk, claim, decide, group, parked, propose, rule, task_create
from tests.integration.approvals_app.rules import fresh, used


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
