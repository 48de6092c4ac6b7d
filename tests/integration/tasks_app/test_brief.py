"""The resume brief: what a new worker needs, now and at every point of the past; the two agree where they meet."""

from typing import Any

import pytest

from core.errors import InvalidInput
from tasks_app.models import Call, Event, Task
from tasks_app.selectors.brief import resume_brief
from tasks_app.services.cancel import task_cancel
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import task_pause
from tasks_app.services.stops import stop_set
from tasks_app.status import CallState
from tasks_app.testing import task_run, worker_here
from tests.people import People
from tests.records import call_in, new_task, task_set

SAME = ("status", "agent_version", "checkpoint", "next_step", "settled_calls", "approvals_held", "budget_left", "lease")


def brief(task: Task, at: int | None = None) -> dict[str, Any]:
    return resume_brief(task=Task.objects.get(pk=task.id), at=at)


@pytest.fixture
def waiting(people: People) -> Task:
    task = new_task(people.workspace, people.rhea, agent="test.writer", budget={"steps": 10})
    return task_run(task.id, worker_here())


def test_it_says_what_is_settled_waited_for_and_left(waiting: Task) -> None:
    now = brief(waiting)
    assert (now["status"], now["settled_calls"], now["open_calls"]) == ("waiting", 1, [])
    assert (now["checkpoint"]["step"], now["next_step"]) == (2, 3)
    assert (now["waits_for"]["kind"], now["waits_for"]["on"]) == ("signal", "go")
    assert now["budget_left"] == {"steps": 8}
    assert now["lease"] is None


def test_the_past_at_the_head_is_the_present_at_each_stage_of_a_life(people: People, waiting: Task) -> None:
    def agree() -> None:
        task = Task.objects.get(pk=waiting.id)
        now, then = brief(task), brief(task, at=task.head_seq)
        assert {name: then[name] for name in SAME} == {name: now[name] for name in SAME}
        assert [c["name"] for c in then["open_calls"]] == [c["name"] for c in now["open_calls"]]

    agree()
    signal_send(workspace=people.workspace, task=waiting.id, actor="person:rhea", name="go", payload="two")
    agree()
    ended = task_run(waiting.id, worker_here())
    assert ended.status == "completed"
    agree()
    over = brief(waiting)
    assert (over["next_step"], over["open_calls"]) == (None, [])  # nobody takes it again
    before = brief(waiting, at=ended.head_seq - 6)
    assert before["next_step"] is not None


def test_an_open_call_of_the_past_is_told_in_full(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "n", CallState.INTENDED)
    task_pause(workspace=people.workspace, task=task.id, actor="person:rhea", reason="x")
    now, then = brief(task), brief(task, at=Task.objects.get(pk=task.id).head_seq)
    assert then["open_calls"] == now["open_calls"]
    assert then["status"] == now["status"] == "paused"


def test_every_point_of_the_past_can_be_asked_for(people: People, waiting: Task) -> None:
    signal_send(workspace=people.workspace, task=waiting.id, actor="person:rhea", name="go", payload="two")
    task = task_run(waiting.id, worker_here())
    briefs = {at: brief(task, at=at) for at in range(1, task.head_seq + 1)}
    attempted = Event.objects.get(stream=task.id, kind="call.attempted", data__name="second").seq
    must = briefs[attempted]["open_calls"][0]["must"]
    assert (must["do"], must["rule"]) == ("send", "E02")
    assert briefs[1]["status"] == "queued"
    assert briefs[attempted]["lease"]["holder"] == "test"
    with pytest.raises(InvalidInput, match="no event"):
        brief(task, at=task.head_seq + 1)


@pytest.mark.parametrize(
    ("tool", "effect", "state", "do"),
    [
        ("note.write", "keyed", CallState.INTENDED, "send"),
        ("note.write", "keyed", CallState.ATTEMPTED, "send"),
        ("note.shout", "opaque", CallState.ATTEMPTED, "doubt"),
        ("note.shout", "opaque", CallState.IN_DOUBT, "park"),
        ("note.gone", "readable", CallState.ATTEMPTED, "doubt"),
        ("note.gone", "readable", CallState.INTENDED, "void"),
    ],
)
def test_each_open_call_has_the_move_that_the_rules_demand(
    people: People, tool: str, effect: str, state: CallState, do: str
) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "n", state, tool=tool, effect_class=effect)
    (one,) = brief(task)["open_calls"]
    assert (one["name"], one["must"]["do"]) == ("n", do)
    assert one["must"]["reason"]


def test_nothing_is_sent_while_paused_cancelling_or_stopped(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "n", CallState.INTENDED, tool="note.write", effect_class="keyed")
    stop_set(
        workspace=people.workspace, scope="tool", name="note.write", reason="x", user=people.rhea, actor="person:rhea"
    )
    now = brief(task)
    assert now["open_calls"][0]["must"]["do"] == "park"
    assert now["stops"] == [{"scope": "tool", "name": "note.write", "reason": "x"}]
    task_pause(workspace=people.workspace, task=task.id, actor="person:rhea", reason="x")
    assert brief(task)["open_calls"][0]["must"]["do"] == "park"
    task_cancel(workspace=people.workspace, task=task.id, actor="person:rhea", reason="x")
    assert brief(task)["open_calls"] == []


def test_signals_that_no_wait_has_taken_are_named(people: People) -> None:
    task = task_set(new_task(people.workspace, people.rhea))
    signal_send(workspace=people.workspace, task=task.id, actor="person:rhea", name="later")
    assert [one["name"] for one in brief(task)["signals"]] == ["later"]
    assert not Call.objects.exists()
