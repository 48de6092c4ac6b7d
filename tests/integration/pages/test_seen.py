"""What the model saw: each selection whole, and the difference between two of them, also across a takeover."""

import json

import pytest
from django.test import Client

from tasks_app.models import Task
from tasks_app.record.append import Token, append
from tasks_app.record.events import ContextSelected
from tests.people import People
from tests.records import leased, task_set

EVIL = "<script>alert(1)</script>\u202e"


def selected(content: object, *, step: int = 1, **more: object) -> ContextSelected:
    fixed = {"ask": 1, "model": "m", "dropped": [], "reserved_tokens": 10, "instructions": "Propose one setting."}
    return ContextSelected(step=step, added=[{"role": "user", "content": content}], **{**fixed, **more})


def asked(task: Task, content: object, *, step: int = 1) -> None:
    task_set(task, selected(content, step=step))


def shown(client: Client, task: Task, **query: int):
    answer = client.get(f"/tasks/{task.pk}/", {"tab": "seen", **query})
    assert answer.status_code == 200
    return answer


def test_without_a_model_it_says_so(client_of, people: People, task: Task):
    assert "No model was asked" in shown(client_of(people.rhea), task).content.decode()


def test_the_last_is_compared_with_the_one_before_it_line_by_line(client_of, people: People, task: Task):
    asked(task, json.dumps({"pool": 20, "title": "queue"}))
    asked(task, json.dumps({"pool": 40, "title": "queue"}), step=2)
    answer = shown(client_of(people.rhea), task)
    lines = answer.context["lines"]
    assert ("removed", '- "pool": 20,') in lines
    assert ("added", '+ "pool": 40,') in lines
    assert not any("queue" in text for css, text in lines if css)
    assert "Propose one setting." in answer.content.decode()


def test_any_two_can_be_compared_and_the_same_is_said_to_be_the_same(client_of, people: People, task: Task):
    for content in ("one", "two", "one"):
        asked(task, content)
    rhea = client_of(people.rhea)
    assert "the model saw the same both times" in shown(rhea, task, at=4, against=2).content.decode()
    assert shown(rhea, task, at=3, against=2).context["lines"] != []
    assert rhea.get(f"/tasks/{task.pk}/", {"tab": "seen", "at": 1}).status_code == 404  # no selection, an event


def test_across_a_takeover_it_says_that_the_worker_changed(client_of, people: People, task: Task):
    for epoch in (1, 2):
        held = leased(task, lease_epoch=epoch)
        token = Token(epoch=epoch, nonce=held.lease_nonce)
        last = append(stream=task.pk, events=[selected(f"under {epoch}")], actor="worker:w", token=token).head_seq
    page = shown(client_of(people.rhea), task, at=last, against=last - 2).content.decode()
    assert "Between the two the worker changed: lease no. 1 and no. 2." in page


def test_what_changed_since_the_selection_before_is_shown_within_the_whole(client_of, people: People, task: Task):
    asked(task, "the incident " + 30 * "and so on ")
    before = Task.objects.get(pk=task.pk).head_seq
    second = selected("what the tool said", dropped=[0], since=before, instructions=None)
    task_set(task, second)
    answer = shown(client_of(people.rhea), task)
    assert answer.context["shown"].lines[:3] == ["instructions:", "Propose one setting.", "user:"]
    page = answer.content.decode()
    assert "Left out to make room" in page
    assert "user: the incident and so on" in page
    third = selected("and then", since=before + 1, instructions=None)
    task_set(task, third)
    answer = shown(client_of(people.rhea), task)
    assert [part["content"] for part in answer.context["shown"].parts] == ["what the tool said", "and then"]
    assert "Left out to make room" not in answer.content.decode()


def test_what_the_model_was_shown_is_inert(client_of, people: People, task: Task):
    asked(task, EVIL)
    asked(task, [EVIL, {"deep": EVIL}])
    page = shown(client_of(people.rhea), task).content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert client_of(people.tobin).get(f"/tasks/{task.pk}/", {"tab": "seen"}).status_code == 404


def test_what_would_take_minutes_to_compare_is_shown_as_a_whole_but_for_its_ends(client_of, people: People, task: Task):
    rows = [f"row {at % 60}" for at in range(3000)]
    asked(task, "\n".join(["first", *rows, "last"]))
    between = [one for row in rows[:1750] for one in (row, "?")]
    asked(task, "\n".join(["first", *between, "last"]), step=2)
    lines = shown(client_of(people.rhea), task).context["lines"]
    kinds = [kind for kind, _ in lines]
    assert [text for kind, text in lines if not kind][1:] == [" user:", " first", " row 0", " last"]
    assert kinds[4:-1] == ["removed"] * 2999 + ["added"] * 3499


@pytest.mark.parametrize("depth", [700, 8000, 29_000])  # each level costs, each is read, none is read any more
def test_json_as_deep_as_a_sender_likes_is_shown_as_it_came(client_of, people: People, task: Task, depth: int):
    deep = "[" * depth + "]" * depth
    asked(task, deep)
    asked(task, f"{deep} ", step=2)
    answer = shown(client_of(people.rhea), task)
    assert sum(map(len, answer.context["shown"].lines)) <= 4 * len(deep)
