"""A call that policy allows is there to be used for a time; then it is withdrawn, whatever became of its agent."""

from dataclasses import replace
from typing import Any

import pytest

from approvals_app.status import Outcome
from core.clock import database_now
from tasks_app import registry
from tasks_app.models import Call, Task
from tasks_app.record.invariants import Effect
from tasks_app.services.steer import task_pause, task_resume
from tests.desk import HUSH, Desk, kinds, rule
from tests.integration.approvals_app.outside import Outside, sound, tend

ONCE = replace(HUSH, name="desk.once", once_per="{path}", run_within=600.0)


@pytest.fixture(autouse=True)
def _allowed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._tools, (ONCE.name, ONCE.version), ONCE)
    rule(desk, "free", "tool == 'desk.once'", Outcome.ALLOW, position=1)


def unused(outside: Outside, **more: Any) -> Any:
    return outside.request(ONCE.name, arguments={"path": "/tmp/a"}, **more).json()


def woken(made: Any) -> Task:
    Task.objects.filter(pk=made["task"]).update(wake_at=database_now())
    return tend(made["task"])


def time_is_over(made: Any, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setitem(registry._tools, (ONCE.name, ONCE.version), replace(ONCE, run_within=0.0))
    return woken(made)


def seconds_left(task: Task) -> float:
    assert task.wake_at is not None
    return (task.wake_at - database_now()).total_seconds()


def test_what_its_agent_never_begins_is_withdrawn_and_its_task_ends_and_its_business_key_is_free(
    desk: Desk, outside: Outside, monkeypatch: pytest.MonkeyPatch
):
    made = unused(outside)
    assert made["status"] == "ready"
    assert 500 < seconds_left(Task.objects.get(pk=made["task"])) <= 600
    assert unused(outside)["code"] == "gate-refused"
    task = time_is_over(made, monkeypatch)
    call = Call.objects.get(task=task)
    assert (task.status, call.state, call.holds_business_key) == ("failed", "withdrawn", False)
    answer = outside.use(made).json()
    assert (answer["code"], answer["state"]) == ("gate-closed", "withdrawn")
    assert "did not begin it in time" in answer["detail"]
    sound(task.pk, [])
    assert unused(outside)["status"] == "ready"


def test_until_then_it_can_be_used_whoever_wakes_its_task(desk: Desk, outside: Outside):
    made = unused(outside)
    task = woken(made)
    assert (task.status, task.wait["kind"]) == ("waiting", "outside")
    assert 500 < seconds_left(task) <= 600
    sound(task.pk, [])
    used = outside.use(made).json()
    assert outside.report(used).json()["status"] == "done"
    assert tend(task.pk).status == "completed"
    sound(task.pk, [Effect(key=made["key"], arguments=used["arguments"])])


def test_a_task_that_was_opened_for_several_calls_goes_on_without_it(
    desk: Desk, outside: Outside, monkeypatch: pytest.MonkeyPatch
):
    opened = outside.post("/tasks", title="Two things", request_key="open-1").json()
    made = unused(outside, task=opened["id"])
    task = time_is_over(made, monkeypatch)
    assert (task.status, task.wait["kind"], task.wake_at) == ("waiting", "signal", None)
    monkeypatch.setitem(registry._tools, (ONCE.name, ONCE.version), ONCE)
    again = unused(outside, task=opened["id"])
    assert outside.use(again).status_code == 200
    sound(task.pk, [])


def test_what_lasts_while_the_task_is_paused_is_over_after_it(
    desk: Desk, outside: Outside, monkeypatch: pytest.MonkeyPatch
):
    made = unused(outside)
    task_pause(workspace=desk.workspace, task=made["task"], actor="person:silas", reason="wait")
    task = woken(made)
    assert (task.status, 500 < seconds_left(task) <= 600) == ("paused", True)
    sound(task.pk, [])
    task_resume(workspace=desk.workspace, task=made["task"], actor="person:silas")
    assert time_is_over(made, monkeypatch).status == "failed"
    assert "call.withdrawn" in kinds(made["task"])
