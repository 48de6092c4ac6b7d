"""W01: a signal is kept until a wait takes it; the same request key twice is one signal."""

import pytest

from core.errors import TooLarge
from tasks_app.models import Event, Task
from tasks_app.services.requests import Answer, RequestKeyReused
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import NotNow
from tests.people import People
from tests.records import new_task, task_set


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def send(people: People, task: Task, *, key: str | None = None, payload: object = None) -> Answer:
    return signal_send(
        workspace=people.workspace, task=task.id, actor="person:rhea", name="go", payload=payload, request_key=key
    )


def test_signals_are_kept_in_order_with_their_sequence(people: People, task: Task) -> None:
    first, second = send(people, task, payload={"n": 1}), send(people, task, payload={"n": 2})
    assert Task.objects.get(pk=task.id).signals == [
        {"seq": first.seq, "name": "go"},
        {"seq": second.seq, "name": "go"},
    ]
    assert Event.objects.get(stream=task.id, seq=second.seq).data["payload"] == {"n": 2}


def test_the_same_key_twice_is_one_signal(people: People, task: Task) -> None:
    first, second = send(people, task, key="s-1"), send(people, task, key="s-1")
    assert (first.seq, first.first, second.seq, second.first) == (second.seq, True, first.seq, False)
    assert len(Task.objects.get(pk=task.id).signals) == 1
    with pytest.raises(RequestKeyReused):
        send(people, task, key="s-1", payload="other")


def test_a_task_that_waits_for_a_signal_becomes_due(people: People, task: Task) -> None:
    task_set(task, status="waiting", wait={"kind": "signal", "on": "go"}, wake_at=None)
    send(people, task)
    assert Task.objects.get(pk=task.id).wake_at is not None


def test_a_task_that_waits_for_something_else_stays_asleep(people: People, task: Task) -> None:
    task_set(task, status="waiting", wait={"kind": "approval"}, wake_at=None)
    send(people, task)
    assert Task.objects.get(pk=task.id).wake_at is None


def test_an_ended_task_takes_no_signal(people: People, task: Task) -> None:
    task_set(task, status="cancelled", ended_at="2026-01-01T00:00:00Z", wake_at=None)
    with pytest.raises(NotNow):
        send(people, task)


def test_a_payload_over_the_limit_is_refused(people: People, task: Task) -> None:
    with pytest.raises(TooLarge):
        send(people, task, payload="x" * 300_000)
