"""Rule 4: two clocks, and what happens at each."""

import pytest

from approvals_app.services import expire
from approvals_app.services.expire import approvals_expire
from core.clock import database_now
from core.errors import Conflict, Forbidden
from tasks_app.models import Status, Task
from tests.desk import Desk, claim, decide, group, kinds, park, parked, rule
from tests.integration.approvals_app.rules import fresh, past, used


def test_rule_04_at_the_first_clock_a_request_expires_and_at_the_second_an_approval_is_too_old(desk: Desk):
    late, unused = parked(desk), parked(desk)
    decide(unused, desk.rhea)
    past(late, "decide_by")
    past(unused, "run_by")
    with pytest.raises(Conflict, match="expired"):  # also while no sweeper has come by
        decide(late, desk.rhea)
    assert used(unused) is False
    assert (fresh(late).status, fresh(unused).status) == ("expired", "lapsed")


def test_case_14_b_an_approve_past_the_deadline_is_refused_as_expired_though_no_sweeper_came_by(desk: Desk):
    request = parked(desk)
    past(request, "decide_by")
    with pytest.raises(Conflict, match="has expired"):
        decide(request, desk.rhea)
    now = fresh(request)
    assert (now.status, now.decision, now.answers.count()) == ("expired", "", 0)
    assert not used(request)
    told = kinds(request.task_id)
    assert ("approval.expired" in told, "approval.decided" in told) == (True, False)
    with pytest.raises(Conflict, match="has expired"):
        decide(request, desk.rhea)


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


def test_rule_04_a_request_that_cannot_be_ended_keeps_no_other_waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    broken, late = parked(desk), parked(desk)
    past(broken, "decide_by")
    past(late, "decide_by")
    real = expire.deadline_pass

    def pass_or_fail(*, request, **more):
        if request.pk == broken.pk:
            raise ZeroDivisionError
        return real(request=request, **more)

    monkeypatch.setattr(expire, "deadline_pass", pass_or_fail)
    assert approvals_expire() == 1
    assert (fresh(broken).status, fresh(late).status) == ("requested", "expired")
