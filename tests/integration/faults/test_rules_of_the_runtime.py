"""What the runtime must do whatever the outside does: cancel, pause, limits, budgets, names, refusals, time."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chaos_app.world.client import WorldClient
from core.clock import ClockTimestamp
from tasks_app.decisions import Call as CallDecision
from tasks_app.decisions import Decision, call, calls, complete, state
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.services.cancel import task_cancel
from tasks_app.services.repeat import repeat_allow
from tasks_app.services.steer import task_pause, task_resume
from tasks_app.status import CallState, Status
from tasks_app.view import TaskView
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.scripts import script

MORE_ENDS = ENDS | {Status.CANCELLED}
Rigs = Callable[[], Rig]


def run(one: Rig, name: str, *, budget: Any = None, **intent: Any) -> Task:
    task = one.task("case.script", script=name, title=fresh(), **intent)
    if budget:
        Task.objects.filter(pk=task.pk).update(budget=budget)
    return one.run(task, until=lambda t: t.status in MORE_ENDS)


@script
def cancelled_while_it_thinks(view: TaskView) -> Decision:
    task = Task.objects.get(pk=view.task)
    task_cancel(workspace=task.workspace, task=task.pk, actor="person:silas", reason="enough")
    if view.intent["then"] == "complete":
        return complete()
    return call("t.ticket", name="act", title=view.intent["title"])


@pytest.mark.parametrize("then", ["act", "complete"])
def test_an_agent_that_was_cancelled_while_it_thought_starts_nothing(then: str, rig: Rigs, client: WorldClient) -> None:
    """R03: and its slice ends at once."""
    started = time.monotonic()
    task = run(rig(), "cancelled_while_it_thinks", then=then)
    assert (task.status, effects_of(client, task)) == (Status.CANCELLED, 0)
    assert "call.intended" not in kinds(task)
    assert time.monotonic() - started < 10


def test_a_paused_call_is_looked_up_once_and_sent_after_the_pause(rig: Rigs, client: WorldClient) -> None:
    """O01: absent while paused: nothing is sent, and the outside is not asked again and again."""
    one = rig()
    task = one.task(**intent_of("readable", 1))
    client.arm("config", "fail_before", match={"call": f"{task.pk}/act"})
    one.run(task, until=lambda t: Call.objects.filter(task=t, name="act", state=CallState.UNKNOWN).exists())
    task_pause(workspace=task.workspace, task=task.pk, actor="person:silas", reason="a look")
    one.run(task, until=lambda t: "call.observed" in kinds(t))
    one.slice(task)
    task.refresh_from_db()
    assert (task.status, task.lease_nonce, kinds(task).count("call.observed")) == (Status.PAUSED, None, 1)
    task_resume(workspace=task.workspace, task=task.pk, actor="person:silas")
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)


@script
def reads_what_is_down(view: TaskView) -> Decision:
    if "read" not in view.calls:
        return call("c.down", name="read", sku="B-9")
    refusal = view.calls["read"].refusal or {}
    return complete(summary=f"{refusal['code']}: {refusal['reason']}")


def test_a_read_that_is_never_answered_is_tried_with_pauses_and_then_refused(rig: Rigs) -> None:
    """E06 for the class none: every try is in the record, the agent reads why, no person is needed."""
    task = run(rig(), "reads_what_is_down")
    assert task.status == Status.COMPLETED
    tries = list(Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq"))
    assert [(e.data["attempt"], e.data["outcome"]) for e in tries] == [(1, "unknown"), (2, "unknown"), (3, "refused")]
    assert (tries[1].at - tries[0].at).total_seconds() > 0.4
    assert "try 3: 503" in Call.objects.get(task=task).state + str(tries[2].data["error"])


@script
def thinks_long(view: TaskView) -> Decision:
    time.sleep(0.3)
    return state({"thought": view.step})


@pytest.mark.parametrize(
    ("budget", "most"), [({"seconds": 2.0}, 8), ({"steps": 3}, 3)], ids=["seconds of thinking", "steps"]
)
def test_a_budget_ends_the_task(budget: dict[str, float], most: int, rig: Rigs) -> None:
    task = run(rig(), "thinks_long", budget=budget)
    assert task.status == Status.FAILED
    assert 1 < kinds(task).count("step.decided") <= most
    failed = Event.objects.get(stream=task.pk, kind="task.failed")
    assert (failed.data["cause"], "budget" in failed.data["reason"]) == ("budget", True)


class Said:
    def __init__(self, tokens: int) -> None:
        self.output, self.tokens = "yes", tokens


@script
def asks(view: TaskView) -> Decision:
    view.ask("Shall we?", model="test", ask=lambda question: Said(10), largest_cost=40)
    return state({"asked": view.step})


def test_tokens_that_were_reserved_when_a_worker_died_stay_counted(rig: Rigs) -> None:
    """D01: asked again, both costs are counted, and the budget holds over the resume."""
    one = rig()
    one.die_at = ("D01", "after_receive", 1)
    task = run(one, "asks", budget={"tokens": 100})
    assert one.died
    assert task.status == Status.FAILED
    asked = kinds(task).count("context.selected")
    assert asked == 1 + kinds(task).count("step.decided") == 4  # 40 lost + 10 + 10 + 10: a fourth could cost 110
    assert task.spent["tokens"] == 70


@script
def decides_badly(view: TaskView) -> Decision:
    if view.step == view.intent.get("good_at"):
        return state({"fine": True})
    match view.step % 4:
        case 0:
            return call("no.such.tool", name="a")
        case 1:
            return call("t.ticket", name="b", nothing="fits")
        case 2:
            return CallDecision(tool="t.ticket", name="n" * 121, arguments={"title": "long name"})
        case _:
            raise RuntimeError("a mistake in the agent")


def test_three_decisions_in_a_row_that_cannot_be_carried_out_fail_the_task(rig: Rigs) -> None:
    task = run(rig(), "decides_badly")
    assert task.status == Status.FAILED
    decided = Event.objects.filter(stream=task.pk, kind="step.decided").order_by("seq")
    codes = [item["code"] for e in decided for item in e.data["refused"]]
    assert codes == ["unknown-tool", "bad-arguments", "bad-name"]
    assert Event.objects.get(stream=task.pk, kind="task.failed").data["cause"] == "bad_decisions"


@script
def names_badly(view: TaskView) -> Decision:
    name = ("../../other/calls/pay", "pay/", "a//b")[min(view.step, 2)]
    return call("t.ticket", name=name, title="led astray")


def test_a_name_whose_address_would_be_that_of_another_call_is_refused(rig: Rigs) -> None:
    task = run(rig(), "names_badly")
    decided = Event.objects.filter(stream=task.pk, kind="step.decided")
    assert [item["code"] for e in decided for item in e.data["refused"]] == ["bad-name"] * 3
    assert not Call.objects.filter(task=task).exists()


def test_a_good_decision_in_between_starts_the_count_anew(rig: Rigs) -> None:
    task = run(rig(), "decides_badly", good_at=2)
    assert (task.status, task.step) == (Status.FAILED, 6)


@script
def asks_twice(view: TaskView) -> Decision:
    """The same act under another name, as models do after an interruption."""
    if "first" not in view.calls:
        return call("c.ticket_once", name="first", title=view.intent["title"])
    if not view.refused:
        return call("c.ticket_once", name="please again", title=view.intent["title"])
    return complete(summary=view.refused[0]["reason"])


def test_an_act_with_a_business_key_is_refused_under_another_name(rig: Rigs, client: WorldClient) -> None:
    """S1: the refusal points at the first."""
    task = run(rig(), "asks_twice")
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    refused = Event.objects.filter(stream=task.pk, data__does="refused").get().data["refused"][0]
    assert (refused["code"], refused["first"]["call"]) == ("business-key-held", "first")


def test_the_same_act_is_refused_in_another_task_too(rig: Rigs, client: WorldClient) -> None:
    one, title = rig(), fresh()
    for _ in range(2):
        task = one.task("case.script", script="one", title=title, tool="c.ticket_once", arguments={"title": title})
        one.run(task, until=lambda t: t.status in MORE_ENDS)
    assert task.status == Status.FAILED
    assert len([t for t in client.state()["tickets"] if t["title"] == title]) == 1


def test_an_act_that_a_person_lets_through_is_done_once_more(rig: Rigs, client: WorldClient) -> None:
    one, title = rig(), fresh()

    def again() -> Task:
        task = one.task("case.script", script="one", title=title, tool="c.ticket_once", arguments={"title": title})
        return one.run(task, until=lambda t: t.status in MORE_ENDS)

    first = again()
    assert again().status == Status.FAILED
    repeat_allow(workspace=first.workspace, task=first.pk, name="act", actor="person:silas", reason="it was lost")
    assert [again().status, again().status] == [Status.COMPLETED, Status.FAILED]
    assert len([t for t in client.state()["tickets"] if t["title"] == title]) == 2
    assert task_differences(first.pk) == []


def test_a_name_is_used_once_in_the_life_of_a_task(rig: Rigs, client: WorldClient) -> None:
    @script
    def repeats(view: TaskView) -> Decision:
        return call("t.ticket", name="act", title=view.intent["title"])

    task = run(rig(), "repeats")
    assert (task.status, effects_of(client, task)) == (Status.FAILED, 1)


@script
def pair_of_limited(view: TaskView) -> Decision:
    if "a" not in view.calls:
        return calls(*[call("c.ticket_limited", name=n, title=f"{view.intent['title']}-{n}") for n in "ab"])
    return complete()


def test_calls_over_the_limit_of_their_tool_wait_and_say_so(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    busy = one.task("case.script", script="one", title=fresh(), tool="c.ticket_limited", arguments={"title": fresh()})
    one.die_at = ("E02", "before_send", 1)
    one.slice(busy)  # dead in flight: its attempt counts as one that may still act
    Call.objects.filter(task=busy).update(deadline=ClockTimestamp() + timedelta(seconds=60))
    task = one.task("case.script", script="one", title=fresh(), tool="c.ticket_limited", arguments={"title": fresh()})
    one.slice(task)
    task.refresh_from_db()
    assert (task.status, task.wait["kind"]) == (Status.WAITING, "limit")
    one.run(busy, until=lambda t: t.status in MORE_ENDS)
    assert busy.status == Status.COMPLETED, "its own attempt must not keep it from being sent again"
    one.run(task, until=lambda t: t.status in MORE_ENDS)
    assert [effects_of(client, t) for t in (busy, task)] == [1, 1]


@script
def pair_of_plain(view: TaskView) -> Decision:
    if "a" not in view.calls:
        return calls(*[call("t.ticket", name=n, title=f"{view.intent['title']}-{n}") for n in "ab"])
    return complete()


def in_flight_at_once(task: Task) -> int:
    """The most attempts of a task that were open at one moment."""
    now = most = 0
    for kind in kinds(task):
        now += {"call.attempted": 1, "call.outcome": -1}.get(kind, 0)
        most = max(most, now)
    return most


def test_an_agent_has_no_more_calls_at_once_than_it_may(rig: Rigs, client: WorldClient) -> None:
    for agent, most in (("case.script", 2), ("case.quiet", 1)):
        one = rig()
        task = one.task(agent, script="pair_of_plain", title=fresh())
        one.run(task, until=lambda t: t.status in MORE_ENDS)
        assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 2)
        assert in_flight_at_once(task) == most


def test_the_calls_of_an_agents_other_tasks_count_as_well(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    arguments = {"title": fresh()}
    busy = one.task("case.quiet", script="one", tool="t.ticket", arguments=arguments)
    one.die_at = ("E02", "before_send", 1)
    one.slice(busy)  # dead in flight: its attempt counts as one that may still act
    Call.objects.filter(task=busy).update(deadline=ClockTimestamp() + timedelta(seconds=60))
    task = one.task("case.quiet", script="one", tool="t.ticket", arguments={"title": fresh()})
    one.slice(task)
    task.refresh_from_db()
    assert (task.status, task.wait["kind"], effects_of(client, task)) == (Status.WAITING, "limit", 0)
    for each in (busy, task):
        one.run(each, until=lambda t: t.status in MORE_ENDS)
        assert (each.status, effects_of(client, each)) == (Status.COMPLETED, 1)


def test_two_calls_of_one_step_over_the_limit_run_one_after_the_other(rig: Rigs, client: WorldClient) -> None:
    task = run(rig(), "pair_of_limited")
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 2)
    first, second = Event.objects.filter(stream=task.pk, kind="call.attempted").order_by("seq")
    between = Event.objects.filter(stream=task.pk, seq__gt=first.seq, seq__lt=second.seq)
    assert {"call.outcome", "wait.started"} <= set(between.values_list("kind", flat=True))
