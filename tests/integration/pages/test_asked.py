"""The tab Approvals of a task: what people were asked, in which state it is, and everything that was said of it."""

from django.urls import reverse

from approvals_app.status import Answer
from tasks_app.models import Event
from tasks_app.selectors.asked import approvals_asked
from tests.desk import CLEAN, Desk, attempt, claim, decide, desk_create, park, parked, propose, task_create


def tab(client_of, desk: Desk, task: object) -> str:
    answer = client_of(desk.vera).get(reverse("task", args=[task]), {"tab": "approvals"})
    assert answer.status_code == 200
    return answer.content.decode().partition('aria-label="Parts of the task"')[2]


def test_a_task_that_asked_nobody_says_so(client_of, transactional_db):
    desk = desk_create()
    assert "Nobody was asked" in tab(client_of, desk, task_create(desk).pk)


def test_an_approval_is_told_with_its_state_its_words_and_all_that_was_said(client_of, transactional_db):
    desk = desk_create()
    one = parked(desk, arguments={"path": "/scratch/<b>a</b>\u202e"})
    decide(one, desk.silas, Answer.DENIED, reason="Not on a <i>Friday</i>.")
    shown = tab(client_of, desk, one.task_id)
    assert f'href="{reverse("approval", args=[one.pk])}"' in shown
    assert "Denied" in shown
    assert "silas" in shown
    assert "Not on a &lt;i&gt;Friday&lt;/i&gt;." in shown
    assert "<b>" not in shown
    assert "\u202e" not in shown
    assert "\\u202e" in shown
    events = Event.objects.filter(stream=one.task_id, kind__startswith="approval.")
    assert len(events) == 2
    for event in events:
        assert f'href="{reverse("task", args=[one.task_id])}?event={event.seq}#event-{event.seq}"' in shown


def test_each_is_in_the_state_of_its_last_event_and_the_newest_comes_first(client_of, transactional_db):
    desk = desk_create()
    one = parked(desk)
    decide(one, desk.silas)
    token = claim(one.task)
    attempt(one.task_id, "clean", token)
    assert propose(one.task, CLEAN, "again", {"path": "/scratch/b"}, token=token) is not None
    park(one.task, token)
    asked = approvals_asked(one.task)
    assert [(each.name, each.status) for each in asked] == [("again", "requested"), ("clean", "consumed")]
    shown = tab(client_of, desk, one.task_id)
    assert shown.index("/scratch/b") < shown.index("/scratch/a")
    assert "Waiting for a decision" in shown
    assert "Used" in shown
