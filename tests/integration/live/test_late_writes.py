"""A refused write is told once, in its place among the events: neither again on every page, nor lost by a cut."""

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from core.access import Role
from core.principal import Principal
from tasks_app.live.task_feed import TaskFeed
from tasks_app.models import LateWrite, Task
from tasks_app.record.append import Token, append
from tasks_app.record.events import CallOutcome, CheckpointAdvanced, SignalReceived
from tasks_app.record.late import late_keep
from tests.people import People
from tests.records import new_task


@pytest.fixture
def task(transactional_db: None, people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def feed_of(people: People, task: Task) -> TaskFeed:
    rhea = Principal(user=people.rhea, workspace=people.workspace, roles=frozenset({Role.OPERATOR}))
    return TaskFeed(task=task.pk, who=lambda: rhea, timeline=True)


def signals(task: Task, count: int) -> int:
    events = [SignalReceived(name=f"s{number}") for number in range(count)]
    return append(stream=task.pk, events=events, actor="worker:w-1").head_seq


def large(task: Task) -> int:
    """Write three events of which one message holds one."""
    events = [CallOutcome(name="c" * 100, attempt=1, outcome="unknown", error={"reason": "x" * 100}) for _ in range(3)]
    return append(stream=task.pk, events=events, actor="worker:w-1").head_seq


def refused(task: Task) -> str:
    """Let a worker that has lost the task write; return the id of the row."""
    gone = Token(epoch=7, nonce=uuid4())
    late_keep(stream=task.pk, events=[CheckpointAdvanced(step=1)], actor="worker:w-3", token=gone)
    return f"late-{LateWrite.objects.latest('pk').pk}"


def told(feed: TaskFeed, after: int) -> list[str]:
    """Read until nothing is left; return the ids of all rows, in order."""
    html = ""
    while True:
        reading = feed.read(after)
        html += "".join(str(message["html"]) for message in reading.messages)
        after = reading.cursor
        if not reading.more:
            return re.findall(r'id="((?:event|late)-\d+)"', html)


def test_an_old_one_above_the_window_is_not_told_again(people: People, task: Task):
    refused(task)
    head = signals(task, 250)
    client = Client()
    client.force_login(people.rhea)
    page = client.get(reverse("task", args=[task.pk])).content.decode()
    assert ("late-" in page, f'data-seq="{head}"' in page) == (False, True)
    feed = feed_of(people, task)
    for seq in (head + 1, head + 2):
        assert told(feed, signals(task, 1) - 1) == [f"event-{seq}"]
    poll = client.get(reverse("task-live", args=[task.pk]), {"after": head, "timeline": 1})
    assert "late-" not in poll.json()["html"]


def test_one_that_came_since_is_told_once_and_in_its_place(people: People, task: Task):
    old, head = refused(task), signals(task, 2)
    feed = feed_of(people, task)
    signals(task, 1)
    new = refused(task)
    signals(task, 1)
    assert told(feed, head) == [f"event-{head + 1}", new, f"event-{head + 2}"]
    assert told(feed, head + 2) == []
    assert told(feed_of(people, task), 0)[:2] == ["event-1", old]


def test_one_that_falls_into_a_message_that_is_cut_is_not_lost(
    people: People, task: Task, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tasks_app.live.task_feed.ROWS_LIMIT", 2_000)
    head = task.head_seq
    first = large(task)
    new = refused(task)
    last = large(task)
    events = [f"event-{seq}" for seq in range(head + 1, last + 1)]
    events.insert(events.index(f"event-{first}") + 1, new)
    feed = feed_of(people, task)
    assert feed.read(head).cursor < first  # it is cut
    assert told(feed_of(people, task), head) == events
    page, after = list[str](), head
    while after < last:  # as a page without a socket asks: a feed of its own each time
        reading = feed_of(people, task).read(after)
        page += re.findall(r'id="((?:event|late)-\d+)"', "".join(str(one["html"]) for one in reading.messages))
        after = reading.cursor
    assert page == events
