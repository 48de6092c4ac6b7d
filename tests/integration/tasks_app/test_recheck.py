"""Evidence can be checked again: a completed task whose evidence has gone says so, and stays completed."""

from collections.abc import Iterator

import pytest

import tests.agents as outside
from core.errors import Unavailable
from tasks_app.models import Event, Task, Worker
from tasks_app.services.recheck import recheck_ask, task_recheck
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import NotNow
from tasks_app.testing import task_run, worker_here
from tests.people import People
from tests.records import kinds, new_task


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    outside.GONE.clear()
    yield
    outside.GONE.clear()


@pytest.fixture
def told(people: People) -> Task:
    task = new_task(people.workspace, people.rhea, agent="test.writer")
    signal_send(workspace=people.workspace, task=task.id, actor="person:rhea", name="go", payload="two")
    return task


def recheck(people: People, task: Task) -> list[dict[str, object]]:
    return task_recheck(workspace=people.workspace, task=task.id, actor="person:silas")


def test_evidence_that_is_still_there_is_recorded(people: People, told: Task) -> None:
    assert task_run(told.id, worker_here()).status == "completed"
    assert recheck(people, told) == []
    assert kinds(told)[-1] == "evidence.observed"


def test_evidence_that_has_gone_is_said_and_the_task_stays_completed(people: People, told: Task) -> None:
    task_run(told.id, worker_here())
    outside.GONE.add("in")
    (missing,) = recheck(people, told)
    assert (missing["expected"], missing["seen"]) == ("in", "nothing")
    gone = Event.objects.get(stream=told.id, kind="evidence.gone")
    assert gone.actor == "person:silas"
    assert Task.objects.get(pk=told.id).status == "completed"


def ask(people: People, task: Task) -> int:
    return recheck_ask(workspace=people.workspace, task=task.id, actor="person:silas")


def test_whoever_asks_is_told_where_no_worker_could_look(people: People, told: Task) -> None:
    task_run(told.id, worker_here())
    Worker.objects.all().delete()
    with pytest.raises(Unavailable, match="No worker lives"):
        ask(people, told)


def test_an_unverified_task_is_given_to_a_worker(people: People, told: Task) -> None:
    outside.GONE.add("in")
    assert task_run(told.id, worker_here()).status == "unverified"
    outside.GONE.clear()
    before = Task.objects.get(pk=told.id).head_seq
    assert ask(people, told) == before + 1
    assert task_run(told.id, worker_here()).status == "completed"


def test_a_task_that_has_not_completed_is_not_checked(people: People, told: Task) -> None:
    with pytest.raises(NotNow):
        recheck(people, told)
    with pytest.raises(NotNow):
        ask(people, told)
