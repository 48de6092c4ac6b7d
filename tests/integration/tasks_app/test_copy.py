"""A copy from a step: it reads what was settled, and runs the rest under its own calls and keys."""

from collections.abc import Iterator

import pytest

import tests.agents as outside
from tasks_app.models import Call, Event, Task
from tasks_app.services.copy import task_copy
from tasks_app.services.intake import InvalidInput
from tasks_app.services.signal import signal_send
from tasks_app.testing import task_run, worker_here
from tests.people import People
from tests.records import new_task


@pytest.fixture(autouse=True)
def _empty_world() -> Iterator[None]:
    outside.OUTSIDE.clear()
    yield
    outside.OUTSIDE.clear()


def go(people: People, task: Task, what: str) -> Task:
    signal_send(workspace=people.workspace, task=task.id, actor="person:rhea", name="go", payload=what)
    return task_run(task.id, worker_here())


@pytest.fixture
def done(people: People) -> Task:
    task = new_task(people.workspace, people.rhea, agent="test.writer", labels={"team": "ops"})
    task_run(task.id, worker_here())
    ended = go(people, task, "two")
    assert ended.status == "completed"
    return ended


def copy(people: People, task: Task, step: int | None = None, key: str | None = None) -> Task:
    return task_copy(
        workspace=people.workspace, task=task.id, owner=people.silas, actor="person:silas", step=step, request_key=key
    )


def test_a_copy_reads_what_was_settled_and_runs_only_the_rest(people: People, done: Task) -> None:
    made = copy(people, done, step=1)
    assert (made.owner, made.labels, made.title) == (people.silas, {"team": "ops"}, f"Copy of {done.title}")
    assert task_run(made.id, worker_here()).status == "waiting"
    assert len(outside.OUTSIDE) == 2
    ended = go(people, made, "another")
    assert (ended.status, len(outside.OUTSIDE)) == ("completed", 3)
    assert [call.name for call in Call.objects.filter(task=made)] == ["second"]
    assert Event.objects.get(stream=made.id, kind="task.claimed_complete").data["summary"] == "one"


def test_its_calls_have_keys_of_their_own(people: People, done: Task) -> None:
    made = copy(people, done, step=0)
    task_run(made.id, worker_here())
    both = Call.objects.filter(name="first").values_list("key", flat=True)
    assert len(set(both)) == 2


def test_a_copy_needs_nothing_of_its_original_and_can_be_copied(people: People, done: Task) -> None:
    second = copy(people, copy(people, done, step=2))
    kept = Event.objects.get(stream=second.id, seq=1).data["copied_from"]
    assert set(kept["calls"]) == {"first"}
    assert kept["state"] == {"written": 1}


def test_a_copy_keeps_the_answer_of_a_wait(people: People, done: Task) -> None:
    made = copy(people, done, step=3)
    assert task_run(made.id, worker_here()).status == "completed"
    assert len(outside.OUTSIDE) == 2


def test_the_same_key_is_the_same_copy(people: People, done: Task) -> None:
    assert copy(people, done, key="c").id == copy(people, done, key="c").id


def test_the_same_key_is_the_same_copy_also_once_the_task_has_gone_on(people: People) -> None:
    task = new_task(people.workspace, people.rhea, agent="test.writer")
    task_run(task.id, worker_here())
    made = copy(people, task, key="c")
    steps = Event.objects.filter(stream=task.pk, kind="checkpoint.advanced")
    before = steps.count()
    go(people, task, "two")
    assert steps.count() > before
    assert copy(people, task, key="c").id == made.id


def test_a_step_that_never_settled_is_refused(people: People, done: Task) -> None:
    with pytest.raises(InvalidInput, match="no checkpoint of step 9"):
        copy(people, done, step=9)
