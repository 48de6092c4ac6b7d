"""Rule 6: who has a part in a call never decides it; agents decide nothing."""

import pytest

from approvals_app.models import ApprovalAnswer
from core.access import Right
from core.errors import Forbidden
from tasks_app.models import Task
from tests.desk import MOVE, Desk, as_person, decide, parked, rule
from tests.integration.approvals_app.rules import edit, fresh, grant, used


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
