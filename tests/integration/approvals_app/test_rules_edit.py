"""Rule 7: an edit makes a new call."""

import pytest

from approvals_app.status import Outcome
from core.errors import Conflict, Forbidden, InvalidInput
from tasks_app.models import Call, Event
from tests.desk import MOVE, Desk, attempt, claim, decide, parked, rule
from tests.integration.approvals_app.rules import edit, fresh


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
