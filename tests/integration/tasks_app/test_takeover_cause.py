"""The timeline of a real task says why each worker change is safe, from the events around it."""

from typing import Any

import pytest
from django.test import Client

import tests.agents  # noqa: F401
from tasks_app.models import Event, Task
from tasks_app.services.create import task_create
from tasks_app.timeline import takeovers
from tasks_app.timeline.window import timeline_window
from tests.people import People

pytestmark = pytest.mark.django_db


def told(task: Task, kind: str, epoch: int | None = None, **data: Any) -> int:
    """Lay an event into the record past the append: here only the page is under test."""
    seq = Event.objects.filter(stream=task.pk).count() + 1
    row = {"stream": task.pk, "seq": seq, "kind": kind, "data": data, "actor": "worker:w", "epoch": epoch}
    Event.objects.create(**row, at=task.created_at, digest=b"")
    Task.objects.filter(pk=task.pk).update(head_seq=seq)
    return seq


@pytest.fixture
def task(people: People) -> Task:
    given = {"owner": people.rhea, "actor": "person:rhea", "agent": "test.note", "intent": {"text": "a"}}
    return task_create(workspace=people.workspace, **given)


def died_after_an_attempt(task: Task) -> int:
    told(task, "slice.claimed", 1, worker="w-1", nonce="n", host="h", pid=1, place="step 1")
    told(task, "step.decided", 1, step=1, does="call", names=["act"])
    told(task, "call.intended", 1, name="act", step=1, ordinal=0, tool="t", effect_class="keyed", key="k", digest="d")
    told(task, "call.attempted", 1, name="act", attempt=1, key="k", send_by="", deadline="")
    lost = told(
        task, "slice.lost", lost_epoch=1, worker="w-1", seen="process gone", place="act", losses=1, counted=True
    )
    told(task, "slice.claimed", 2, worker="w-2", nonce="m", host="h", pid=2, place="act")
    return lost


def test_a_worker_change_carries_its_cause(task):
    died_after_an_attempt(task)
    row = timeline_window(task=task).rows[-1]
    assert str(row.line).startswith("Worker changed")
    assert "after attempt 1 of act was recorded and before any answer was" in str(row.cause)
    assert "the same key is sent again" in str(row.cause)


def test_the_cause_is_the_same_where_a_window_begins_after_the_loss(task):
    lost = died_after_an_attempt(task)
    rows = timeline_window(task=task, after=lost, limit=1).rows
    assert "after attempt 1 of act" in str(rows[-1].cause)


def test_the_page_shows_it_and_offers_to_pin_it_to_those_who_may(task, people):
    lost = died_after_an_attempt(task)
    for user, offered in ((people.rhea, True), (people.silas, False)):
        client = Client()
        client.force_login(user)
        html = client.get(f"/tasks/{task.pk}/").content.decode()
        assert "was recorded and before any answer was" in html
        assert (f"/drills/pin/{task.pk}/{lost}/" in html) is offered


def test_where_the_last_checkpoint_is_too_far_back_no_cause_is_told_and_little_is_read(task, monkeypatch):
    """A page of a long record must not read all of it; a cause from half of a step could be wrong."""
    monkeypatch.setattr(takeovers, "BEFORE", 4)
    died_after_an_attempt(task)
    row = timeline_window(task=task).rows[-1]
    assert str(row.line).startswith("Worker changed")
    assert row.cause is None
    told(task, "checkpoint.advanced", 2, step=1)
    died_after_an_attempt(task)
    assert timeline_window(task=task).rows[-1].cause is None
    monkeypatch.setattr(takeovers, "BEFORE", 5)
    assert "after attempt 1 of act" in str(timeline_window(task=task).rows[-1].cause)
