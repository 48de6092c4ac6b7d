"""An answer takes several reads: what is written between two of them is told once, and with its state."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from core.access import Role
from core.principal import Principal
from tasks_app.live.task_feed import TaskFeed
from tasks_app.live.task_round import Round, tasks_followed
from tasks_app.models import Task
from tasks_app.record.events import TaskPaused
from tasks_app.timeline.window import timeline_window
from tests.people import People
from tests.records import new_task, task_set


@pytest.fixture
def task(transactional_db: None, people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def paused(task: Task) -> None:
    task_set(task, TaskPaused(reason="stop here"), status="paused", wake_at=None)


def feed_of(people: People, task: Task) -> tuple[TaskFeed, Principal]:
    rhea = Principal(user=people.rhea, workspace=people.workspace, roles=frozenset({Role.OPERATOR}))
    return TaskFeed(task=task.pk, who=lambda: rhea, timeline=True), rhea


def html_of(messages: list) -> str:
    return "".join(str(message["html"]) for message in messages)


def test_the_head_is_no_older_than_the_events_that_are_told(people: People, task: Task):
    feed, rhea = feed_of(people, task)
    row_read = Round.of(tasks_followed([task.pk]))
    paused(task)  # before its events are read
    reading = feed.read_as(rhea, 1, row_read)
    assert (reading.cursor, reading.more) == (2, False)  # nothing later would tell of it
    assert "Paused" in html_of(feed.rest())


def test_a_page_is_told_on_from_the_state_that_it_shows(people: People, task: Task, monkeypatch: pytest.MonkeyPatch):
    def written_meanwhile(**asked: object) -> object:
        paused(task)
        return timeline_window(**asked)  # type: ignore[arg-type]

    monkeypatch.setattr("tasks_app.views.task.timeline_window", written_meanwhile)
    client = Client()
    client.force_login(people.rhea)
    page = client.get(reverse("task", args=[task.pk])).content.decode()
    assert 'id="event-2"' in page
    assert "Paused" not in "".join(re.findall(r'id="task-status">.*?</span>', page, re.DOTALL))
    (seq,) = re.findall(r'data-seq="(\d+)"', page)
    feed, _ = feed_of(people, task)
    feed.read(int(seq))
    assert "Paused" in html_of(feed.rest())
