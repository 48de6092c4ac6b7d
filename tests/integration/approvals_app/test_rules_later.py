"""Rule 5 for a call that policy let run by itself, and that starts later than it was intended."""

from typing import Any

import pytest
from pydantic import BaseModel

from approvals_app.services.policy import rule_retire
from approvals_app.status import Outcome
from tasks_app import registry
from tasks_app.contracts import Answer, Contract
from tasks_app.decisions import Decision, call, calls, complete
from tasks_app.gate import RefusingGate
from tasks_app.models import Call, Event, Task
from tasks_app.registry import agent
from tasks_app.services.create import task_create
from tasks_app.services.steer import task_pause, task_resume
from tasks_app.services.stops import stop_lift, stop_set
from tasks_app.testing import task_run, worker_here
from tasks_app.view import TaskView
from tests.desk import CLEAN, HUSH, Desk, attempt, claim, kinds, propose, rule
from tests.desk import task_create as task_at_desk
from tests.here import HERE
from tests.integration.approvals_app.outside import Outside, sound, tend

DONE: list[str] = []
REFUSED = "policy became stricter, ask again: it refuses this call (rule 'careful', version 1)"


class Sweep(BaseModel):
    path: str


def _sweep(args: Sweep, context: Any) -> Answer:
    DONE.append(args.path)
    return Answer(result=args.path)


SWEEP, PEEK = (
    Contract(name=name, version=1, arguments=Sweep, effect_class=kind, execute=_sweep, **HERE)
    for name, kind in (("later.sweep", "keyed"), ("later.peek", "none"))
)
for _contract in (SWEEP, PEEK):
    registry.tool_register(_contract)


@agent("later.sweeper")
def sweeper(view: TaskView) -> Decision:
    """Use a tool as often as the intent says, in one step."""
    if "c-0" in view.calls:
        return complete(summary="done")
    many = range(view.intent["many"])
    return calls(*(call(view.intent["tool"], name=f"c-{n}", path=f"/{n}") for n in many))


@pytest.fixture(autouse=True)
def _clean() -> None:
    DONE.clear()


def started(desk: Desk, tool: Contract = SWEEP, many: int = 20) -> Task:
    intent = {"many": many, "tool": tool.name}
    return task_create(
        workspace=desk.workspace, owner=desk.owen, actor="person:owen", agent="later.sweeper", intent=intent
    )


def run(task: Task) -> Task:
    return task_run(task.pk, worker_here())


def refused_reasons(task: Task) -> set[str]:
    outcomes = Event.objects.filter(stream=task.pk, kind="call.outcome", data__outcome="refused")
    return {one.data["error"]["reason"] for one in outcomes}


def stopped(desk: Desk, task: Task) -> Any:
    """Let a stop of the tool stand in the way of the calls that a task has just intended; return what lifts it."""
    at_stop = {"workspace": desk.workspace, "user": desk.silas, "actor": "person:silas"}
    stop = stop_set(scope="tool", name=SWEEP.name, reason="look first", **at_stop)
    assert run(task).wait["kind"] == "stop"
    assert set(Call.objects.filter(task=task).values_list("state", flat=True)) == {"intended"}
    return lambda: stop_lift(stop=stop.switch.pk, reason="seen", **at_stop)


@pytest.mark.parametrize(
    ("outcome", "demand"), [(Outcome.DENY, "it refuses this call"), (Outcome.ASK, "it asks a person")]
)
def test_calls_that_waited_for_a_stop_do_not_run_past_a_rule_that_was_written_meanwhile(desk: Desk, outcome, demand):
    task = started(desk)
    lift = stopped(desk, task)
    rule(desk, "careful", "tool == 'later.sweep'", outcome)
    lift()
    task = run(task)
    assert DONE == []
    assert set(Call.objects.filter(task=task).values_list("state", flat=True)) == {"refused"}
    assert refused_reasons(task) == {f"policy became stricter, ask again: {demand} (rule 'careful', version 1)"}
    assert "call.attempted" not in kinds(task.pk)
    sound(task.pk, [])


def test_calls_that_waited_for_a_stop_run_where_policy_changed_and_demands_no_more_of_them(desk: Desk):
    task = started(desk, many=3)
    lift = stopped(desk, task)
    rule(desk, "elsewhere", "tool == 'desk.pay'", Outcome.DENY)
    rule(desk, "lifted", "true", Outcome.DENY)
    rule_retire(workspace=desk.workspace, name="lifted", actor="person:ada")
    lift()
    assert (run(task).status, sorted(DONE)) == ("completed", ["/0", "/1", "/2"])


def test_a_call_without_effect_that_waited_for_the_end_of_a_pause_is_not_made_past_a_new_rule(desk: Desk):
    task = started(desk, PEEK)
    token = claim(task)
    propose(task, PEEK, "c-0", {"path": "/0"}, token=token)
    where = {"workspace": desk.workspace, "task": task.pk, "actor": "person:silas"}
    task_pause(**where, reason="a look")
    Task.objects.filter(pk=task.pk).update(lease_holder="", lease_nonce=None, lease_until=None, status="paused")
    rule(desk, "careful", "tool == 'later.peek'", Outcome.DENY)
    task_resume(**where)
    task = run(task)
    assert (DONE, Call.objects.get(task=task).state) == ([], "refused")
    assert refused_reasons(task) == {REFUSED}


@pytest.mark.parametrize("outcome", [Outcome.DENY, Outcome.ASK])
def test_an_agent_outside_cannot_collect_calls_and_use_them_after_a_rule_against_them(
    desk: Desk, outside: Outside, outcome
):
    rule(desk, "free", "true", Outcome.ALLOW)
    made = [outside.request(HUSH.name, arguments={"path": f"/{n}"}).json() for n in range(3)]
    assert [one["status"] for one in made] == ["ready"] * 3
    rule(desk, "careful", "tool == 'desk.hush'", outcome, position=1)
    for one in made:
        answer = outside.use(one).json()
        assert (answer["code"], answer["state"]) == ("gate-closed", "refused")
        assert "policy became stricter, ask again" in answer["detail"]
        assert "policy became stricter" in outside.call(one)["reason"]
        assert tend(one["task"]).status == "failed"
        sound(one["task"], [])


def test_a_call_whose_policy_did_not_move_is_used_and_looked_up_by_one_number(
    desk: Desk, outside: Outside, monkeypatch
):
    rule(desk, "free", "tool == 'desk.hush'", Outcome.ALLOW)
    made = outside.request(HUSH.name, arguments={"path": "/a"}).json()

    def judged(*_: Any) -> None:
        raise AssertionError("nothing has changed: no rule is asked again")

    monkeypatch.setattr("approvals_app.services.stricter.rules_now", judged)
    assert outside.use(made).status_code == 200


def test_a_call_that_is_attempted_with_its_intention_is_asked_nothing_more(desk: Desk, monkeypatch):
    def admitted(*_: Any, **__: Any) -> None:
        raise AssertionError("T1 is asked of later attempts alone")

    monkeypatch.setattr("approvals_app.gate.call_admit", admitted)
    assert (run(started(desk, many=3)).status, sorted(DONE)) == ("completed", ["/0", "/1", "/2"])


def test_a_resend_of_a_call_that_began_before_the_rule_stays_under_what_held_then(desk: Desk):
    task = task_at_desk(desk)
    token = claim(task)
    propose(task, HUSH, "hush", {"path": "/a"}, token=token)
    assert attempt(task.pk, "hush", token, contract=HUSH).admitted
    rule(desk, "careful", "tool == 'desk.hush'", Outcome.DENY)
    assert attempt(task.pk, "hush", token, contract=HUSH).admitted


def test_without_a_gate_what_its_contract_lets_run_by_itself_may_also_start_later(desk: Desk):
    task = task_at_desk(desk)
    assert [RefusingGate().admit(contract=one, task=task).admitted for one in (HUSH, CLEAN)] == [True, False]
