"""What the model saw: each selection whole, and the difference between two of them, also across a takeover."""

import json

from django.test import Client

from tasks_app.models import Task
from tasks_app.record.events import ContextSelected
from tests.people import People
from tests.records import leased, task_set

EVIL = "<script>alert(1)</script>\u202e"


def asked(task: Task, content: object, *, step: int = 1, ask: int = 1) -> None:
    fixed = {"model": "m", "dropped": [], "reserved_tokens": 10, "instructions": "Propose one setting."}
    added = [{"role": "user", "content": content}]
    task_set(task, ContextSelected(step=step, ask=ask, added=added, **fixed))


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
    held = leased(task)
    asked(held, "before")
    from tasks_app.models import Event

    task_set(held, lease_epoch=2)
    asked(held, "after")
    epochs = set(Event.objects.filter(stream=task.pk, kind="context.selected").values_list("epoch", flat=True))
    page = shown(client_of(people.rhea), task).content.decode()
    assert ("Between the two the worker changed" in page) == (len(epochs) > 1)


def test_what_the_model_was_shown_is_inert(client_of, people: People, task: Task):
    asked(task, EVIL)
    asked(task, [EVIL, {"deep": EVIL}])
    page = shown(client_of(people.rhea), task).content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert client_of(people.tobin).get(f"/tasks/{task.pk}/", {"tab": "seen"}).status_code == 404
