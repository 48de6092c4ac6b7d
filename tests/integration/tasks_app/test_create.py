"""B01: a request key is one task; nothing is accepted before the commit; what does not fit is named."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.db import connection

import tests.agents  # noqa: F401 - declares test.note and test.free
from core.errors import InvalidInput, TooLarge
from tasks_app.criteria import criterion
from tasks_app.models import Blob, Event, RequestKey, Task
from tasks_app.services.create import task_create
from tasks_app.services.requests import RequestKeyReused
from tests.people import People

RACER = """
import sys, json, django
django.setup()
import tests.agents
from django.db import connection
from django.contrib.auth.models import User
from core.models import Workspace
from tasks_app.services.create import task_create
with connection.cursor() as cursor:
    print("ready", flush=True)
    cursor.execute("SELECT pg_advisory_lock_shared(99)")
task = task_create(workspace=Workspace.objects.get(slug="harbour"), owner=User.objects.get(username="rhea"),
    actor="person:rhea", agent="test.note", intent={"text": "same"}, request_key="k-1")
print(task.id)
"""


def create(people: People, **more: Any) -> Task:
    arguments: dict[str, Any] = {"agent": "test.note", "intent": {"text": "hello"}} | more
    return task_create(workspace=people.workspace, owner=people.rhea, actor="person:rhea", **arguments)


def test_a_task_is_created_with_its_first_event_and_is_due_at_once(people: People) -> None:
    task = create(people, labels={"team": "ops"}, budget={"seconds": 60})
    created = Event.objects.get(stream=task.id)
    assert (created.kind, created.seq, created.actor) == ("task.created", 1, "person:rhea")
    assert created.data["intent"] == task.intent == {"text": "hello", "copies": 1}
    assert (task.status, task.agent_version, task.head_seq) == ("queued", 2, 1)
    assert task.budget == created.data["budget"] == {"steps": 50, "seconds": 60}
    assert task.wake_at is not None
    assert task.wake_at <= created.at


def test_the_same_key_and_body_is_the_same_task(people: People) -> None:
    first, second = create(people, request_key="k-1"), create(people, request_key="k-1")
    assert first.id == second.id
    assert Task.objects.count() == 1
    assert Event.objects.count() == 1


def test_the_same_key_with_another_body_is_refused_and_names_the_task(people: People) -> None:
    first = create(people, request_key="k-1")
    with pytest.raises(RequestKeyReused) as caught:
        create(people, request_key="k-1", intent={"text": "other"})
    assert caught.value.fields["task"] == str(first.id)
    assert Task.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_processes_at_once_with_one_key_create_one_task(people: People, child_environment: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(99)")
        racers = [
            subprocess.Popen([sys.executable, "-c", RACER], env=child_environment, stdout=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        assert all(racer.stdout and racer.stdout.readline() == "ready\n" for racer in racers)
        cursor.execute("SELECT pg_advisory_unlock(99)")
    answers = {racer.communicate(timeout=30)[0].strip() for racer in racers}
    assert all(racer.returncode == 0 for racer in racers)
    assert answers == {str(Task.objects.get().id)}
    assert Event.objects.count() == RequestKey.objects.count() == 1


def test_an_unknown_agent_is_refused_with_the_known_ones(people: People) -> None:
    with pytest.raises(InvalidInput, match=r"no agent 'nobody'.*test\.free, test\.note"):
        create(people, agent="nobody")


def test_an_intent_that_does_not_fit_is_refused_with_each_field(people: People) -> None:
    with pytest.raises(InvalidInput) as caught:
        create(people, intent={"text": "", "copies": "many"})
    assert {error["field"] for error in caught.value.fields["errors"]} == {"intent.text", "intent.copies"}
    assert not Task.objects.exists()


def test_an_unknown_check_is_named(people: People) -> None:
    with pytest.raises(InvalidInput, match="no check 'ghost'"):
        create(people, done_when=[criterion("ghost")])


def test_criteria_of_agent_and_intent_are_fixed_at_creation(people: People) -> None:
    task = create(people, done_when=[{"check": "note.is_there", "arguments": {"box": "out"}}])
    assert task.done_when == [{"check": "note.is_there", "arguments": {"box": "out"}, "source": "intent"}]


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("title", {"title": "x" * 201}),
        ("labels", {"labels": {"a": ["nested"]}}),
        ("budget.money", {"budget": {"money": 3}}),
        ("budget.steps", {"budget": {"steps": -1}}),
        ("intent", {"intent": ["no object"]}),
        ("request_key", {"request_key": "k\n1"}),
        ("done_when[0]", {"done_when": [{"arguments": {}}]}),
    ],
)
def test_a_field_that_does_not_fit_is_named(people: People, field: str, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        create(people, **more)
    assert [error["field"] for error in caught.value.fields["errors"]] == [field]
    assert not Task.objects.exists()


def test_an_intent_over_the_limit_is_refused(people: People) -> None:
    with pytest.raises(TooLarge, match="1,048,576"):
        create(people, agent="test.free", intent={"text": "x" * 1024 * 1024})


def test_an_owner_from_another_workspace_is_refused(people: People) -> None:
    with pytest.raises(InvalidInput, match="not a member"):
        task_create(workspace=people.workspace, owner=people.tobin, actor="person:rhea", agent="test.free", intent={})


def test_hostile_text_is_stored_in_a_form_that_reads_back_the_same(people: People) -> None:
    hostile = json.loads('{"note": "nul \\u0000 and half a pair \\ud83d", "big": 123456789012345678901234567890}')
    task = create(people, agent="test.free", intent=hostile)
    stored = Task.objects.get(pk=task.id).intent
    data = Event.objects.get(stream=task.id).data
    assert stored == data["intent"]
    assert "\x00" not in json.dumps(stored)
    original = data["$altered"]["intent"]["$original"]["sha256"]
    assert b"123456789012345678901234567890" in bytes(Blob.objects.get(stream=task.id, sha256=original).content)


def test_a_secret_in_an_intent_is_kept_nowhere(people: People) -> None:
    secret = "ghp_" + "a1B2" * 9
    task = create(people, agent="test.free", intent={"token": secret, "text": f"use {secret}"})
    assert secret not in json.dumps([Task.objects.get(pk=task.id).intent, Event.objects.get(stream=task.id).data])
