"""What a call costs: its contract says so, policy compares it, people read it."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pydantic import BaseModel

from approvals_app.costs import Cost, call_cost
from approvals_app.models import ApprovalRequest
from approvals_app.status import Outcome
from tasks_app import registry
from tasks_app.contracts import Answer, Contract
from tasks_app.decisions import Decision, call, complete
from tasks_app.models import Call, Event, Task
from tasks_app.registry import agent
from tasks_app.services.create import task_create
from tasks_app.testing import task_run, worker_here
from tasks_app.view import TaskView
from tests.desk import HUSH, Desk, decide, parked, rule
from tests.here import HERE
from tests.integration.approvals_app.rules import fresh, used

DEAR = "cost != null && cost > 100.0"


class Order(BaseModel):
    pieces: int


def _cost(order: Order) -> Any:
    return {0: "nothing", 1: None}[order.pieces] if order.pieces < 2 else order.pieces * 12.5


BUY, RENT = (
    Contract(
        name=name,
        version=1,
        arguments=Order,
        effect_class="keyed",
        execute=lambda args, context: Answer(result="ok"),
        cost=cost,
        **HERE,
    )
    for name, cost in (("cost.buy", _cost), ("cost.rent", 250))
)
for _contract in (BUY, RENT):
    registry.tool_register(_contract)


@agent("cost.buyer")
def buyer(view: TaskView) -> Decision:
    if "buy" in view.calls:
        return complete(summary="done")
    return call(view.intent["tool"], name="buy", pieces=view.intent["pieces"])


def bought(desk: Desk, pieces: int, tool: Contract = BUY) -> Task:
    intent = {"tool": tool.name, "pieces": pieces}
    task = task_create(
        workspace=desk.workspace, owner=desk.owen, actor="person:owen", agent="cost.buyer", intent=intent
    )
    return task_run(task.pk, worker_here())


def state(task: Task) -> str:
    return Call.objects.get(task=task).state


@pytest.mark.parametrize(("outcome", "dear"), [(Outcome.DENY, "refused"), (Outcome.ASK, "asked")])
def test_a_rule_over_the_cost_fires_for_a_real_call_that_costs_so_much(desk: Desk, outcome, dear):
    rule(desk, "dear", DEAR, outcome)
    assert [state(bought(desk, pieces)) for pieces in (8, 9)] == ["answered", dear]
    assert state(bought(desk, 1, RENT)) == dear
    assert state(bought(desk, 1)) == "answered"  # nobody knows: null, as the rule asks for
    kept = Event.objects.filter(kind="call.intended").order_by("id").values_list("data__policy__cost", flat=True)
    assert list(kept) == [100.0, 112.5, 250.0, None]


@pytest.mark.parametrize(("outcome", "then"), [(Outcome.DENY, "refused"), (Outcome.ASK, "asked")])
def test_a_cost_that_cannot_be_told_counts_as_met_where_the_rule_demands_something(desk: Desk, outcome, then):
    rule(desk, "dear", DEAR, outcome)
    task = bought(desk, 0)
    assert state(task) == then
    policy = Event.objects.get(stream=task.pk, kind="call.intended").data["policy"]
    assert policy["cost_failed"] == "the cost of cost.buy could not be told: TypeError"
    assert "cost" in policy["failed"]


def test_a_cost_that_cannot_be_told_lets_no_rule_allow_and_stands_in_no_other_rules_way(desk: Desk):
    rule(desk, "cheap", "cost == null || cost < 10.0", Outcome.ALLOW, position=1)
    rule(desk, "else", "tool == 'cost.buy'", Outcome.DENY, position=2)
    assert [state(bought(desk, pieces)) for pieces in (0, 1, 8)] == ["refused", "answered", "refused"]


def test_an_approved_call_is_compared_with_a_new_rule_over_its_cost(desk: Desk):
    rule(desk, "all", "true")
    request = parked(desk, BUY, name="buy", arguments={"pieces": 9})
    decide(request, desk.rhea)
    rule(desk, "dear", DEAR, Outcome.DENY, position=1)
    assert not used(request, contract=BUY)
    assert fresh(request).closed_reason == "policy became stricter: it refuses this call (rule 'dear', version 1)"


def test_card_tool_page_and_api_say_what_a_call_costs(desk: Desk, client: Client):
    rule(desk, "all", "true")
    request = parked(desk, BUY, name="buy", arguments={"pieces": 9})
    unknown = parked(desk, BUY, name="buy", arguments={"pieces": 0})
    client.force_login(desk.rhea)
    assert "<dt>Cost</dt><dd>112.5</dd>" in client.get(f"/approvals/{request.pk}/").content.decode()
    assert "could not be told: TypeError" in client.get(f"/approvals/{unknown.pk}/").content.decode()
    assert client.get(f"/api/v1/approvals/{request.pk}").json()["cost"] == 112.5
    for tool, said in ((BUY, "by its arguments"), (RENT, "250"), (HUSH, "the tool does not say")):
        assert f"<dt>Cost</dt><dd>{said}</dd>" in client.get(f"/tools/{tool.name}/").content.decode()


def test_the_test_box_knows_no_other_cost_than_a_real_call_has(desk: Desk, client: Client):
    rule(desk, "dear", DEAR, Outcome.DENY)
    client.force_login(desk.vera)
    for tool, given, decides in (
        (BUY, {"pieces": 9}, "dear"),
        (BUY, {"pieces": 8}, "contract"),
        (HUSH, {"path": "/a"}, "contract"),
    ):
        asked = {"tool": tool.name, "arguments": given, "cost": 500.0}
        said = client.post("/api/v1/approvals/policy/try", asked, content_type="application/json").json()
        assert (said["rule"], said["cost_failed"]) == (decides, "")
        assert said["cost"] == (given["pieces"] * 12.5 if "pieces" in given else None)
    page = client.get("/approvals/rules/", {"tool": BUY.name, "arguments": '{"pieces": 9}'}).content.decode()
    assert "It would cost 112.5, as its tool says." in page
    assert 'name="cost"' not in page
    page = client.get("/approvals/rules/", {"tool": BUY.name, "arguments": "{}"}).content.decode()
    assert "the cost of cost.buy could not be told" in page
    assert not ApprovalRequest.objects.exists()


@pytest.mark.parametrize(
    ("said", "amount"),
    [(None, None), (3, 3.0), (Decimal("0.5"), 0.5), (True, "TypeError"), ("9", "TypeError"), (1e999, "ValueError")],
)
def test_a_cost_is_a_finite_number_or_nothing(said: Any, amount: Any):
    contract = Contract(**({one: getattr(BUY, one) for one in BUY.__slots__} | {"cost": lambda order: said}))
    failed = f"the cost of cost.buy could not be told: {amount}"
    expected = Cost(failed=failed) if isinstance(amount, str) else Cost(amount=amount)
    assert call_cost(contract, {"pieces": 2}) == expected
