"""Rule 5: what was decided is asked again at the use."""

import pytest

from approvals_app.status import Outcome
from core.access import Role
from core.models import Membership
from tasks_app.models import Call
from tasks_app.services.stops import stop_set
from tests.desk import Desk, decide, group, parked, rule
from tests.integration.approvals_app.rules import fresh, used


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
