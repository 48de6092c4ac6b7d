"""A bad end is an outcome by the rules of the record: the class decides, and no task is stuck by it."""

import time

import pytest

from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.services.create import task_create
from tasks_app.testing import slice_here, worker_here
from tests.people import People

pytestmark = pytest.mark.django_db(transaction=True)


def ended(people: People, tool: str, what: str, *, seconds: float = 40.0) -> Task:
    """Run a task until it has ended or waits for a person."""
    task = task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="box.run",
        intent={"tool": tool, "arguments": {"what": what}},
    )
    worker, until = worker_here(), time.monotonic() + seconds
    while (row := Task.objects.get(pk=task.pk)).status in {"queued", "waiting"}:
        assert time.monotonic() < until, row.status
        if not slice_here(task.pk, worker):
            time.sleep(0.02)
    return row


def outcomes(task: Task) -> list[dict]:
    return list(
        Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq").values_list("data", flat=True)
    )


@pytest.mark.parametrize("what", ["die", "garbage_now", "large"])
def test_without_effect_it_is_tried_again_and_then_given_up(people: People, what):
    task = ended(people, "box.none", what)
    tried = outcomes(task)
    assert [one["outcome"] for one in tried] == ["unknown", "refused"]
    assert tried[0]["sandbox"]["ended"] in {"killed", "garbage", "answer too large"}
    assert task.status == "unverified"  # it has no criteria; it has gone on
    assert Call.objects.get(task=task).attempts == 2
    assert list(task_differences(task.pk)) == []  # what the record says is what the row holds


def test_an_opaque_one_is_in_doubt(people: People):
    task = ended(people, "box.opaque", "die")
    assert (task.status, Call.objects.get(task=task).state) == ("in_doubt", "in_doubt")
    (only,) = outcomes(task)
    assert only["error"]["code"] == "sandbox-killed"


def test_what_it_used_is_in_the_record(people: People):
    task = ended(people, "box.keyed", "answer")
    (only,) = outcomes(task)
    assert set(only["sandbox"]) == {"level", "ended", "wall_ms", "cpu_ms", "memory_kib"}
