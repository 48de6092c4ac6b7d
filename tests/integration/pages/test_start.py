"""Starting a task from a form that the agent's schema made."""

from enum import StrEnum
from typing import Any, Literal

import pytest
from django import forms
from django.test import Client
from django.urls import reverse
from pydantic import BaseModel, Field

import tests.agents  # noqa: F401 - declares the agents
from core.access import Role
from tasks_app.intent_form import intent_form
from tasks_app.models import Task
from tasks_app.registry import Agent
from tests.people import People, person


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    depth: int


class Everything(BaseModel):
    line: str = Field(max_length=20)
    report: str
    count: int = Field(ge=1, le=9)
    share: float = 0.5
    sure: bool = False
    colour: Colour
    size: Literal["s", "m"] = "s"
    tags: list[str] = []
    inner: Inner
    maybe: str | None = None
    rows: list[Inner] = []


def url(agent: str) -> str:
    return f"{reverse('task-start')}?agent={agent}"


def post(client: Client, agent: str, key: str = "k", **fields: Any):
    data = {f"intent-{name}": value for name, value in fields.items()}
    return client.post(url(agent), data | {"request_key": key, "title": ""})


def test_each_type_gets_its_field_and_what_fits_none_is_json():
    agent = Agent(name="a", version=1, decide=lambda view: None, intent=Everything)  # type: ignore[arg-type, return-value]
    fields = intent_form(agent)().fields
    kinds = {name: type(field).__name__ for name, field in fields.items()}
    assert kinds == {
        "line": "CharField",
        "report": "CharField",
        "count": "IntegerField",
        "share": "FloatField",
        "sure": "BooleanField",
        "colour": "ChoiceField",
        "size": "ChoiceField",
        "tags": "LinesField",
        "inner/depth": "IntegerField",
        "maybe": "CharField",
        "rows": "JsonField",
    }
    assert isinstance(fields["report"].widget, forms.Textarea)
    assert [name for name, field in fields.items() if field.required] == [
        "line",
        "report",
        "count",
        "colour",
        "inner/depth",
    ]


def test_what_is_typed_becomes_the_intent_that_the_schema_takes():
    agent = Agent(name="a", version=1, decide=lambda view: None, intent=Everything)  # type: ignore[arg-type, return-value]
    typed = {"line": "x", "report": "r", "count": "3", "colour": "blue", "tags": "a\n\nb", "inner/depth": "2"}
    form = intent_form(agent)(typed)
    assert form.is_valid(), form.errors
    made = Everything.model_validate(form.intent())
    assert (made.count, made.tags, made.inner.depth, made.maybe, made.sure) == (3, ["a", "b"], 2, None, False)
    wrong = intent_form(agent)(typed | {"rows": "[{depth: 2"})
    assert "no JSON" in wrong.errors["rows"][0]


def test_a_task_is_started_and_a_double_click_makes_one(client_of, people: People, transactional_db):
    rhea = client_of(people.rhea)
    first, again = (post(rhea, "test.note", text="hello", copies="2") for _ in range(2))
    assert first.status_code == again.status_code == 303
    assert first.url == again.url
    assert Task.objects.get().intent == {"text": "hello", "copies": 2}
    other = post(rhea, "test.note", text="other")
    assert other.status_code == 409
    assert "sent before with other content" in other.content.decode()
    assert Task.objects.count() == 1


@pytest.mark.parametrize(
    ("agent", "fields", "said"),
    [
        ("test.note", {"text": ""}, "required"),
        ("test.note", {"text": "x", "copies": "many"}, "whole number"),
        ("test.free", {"intent": "[1"}, "no JSON"),
        ("test.free", {"intent": "[1]"}, "must be an object"),
    ],
)
def test_errors_stand_at_their_fields_and_nothing_is_started(client_of, people: People, agent, fields, said):
    answer = post(client_of(people.rhea), agent, **fields)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Task.objects.exists()


def test_agents_are_offered_and_who_may_not_start_is_told(client_of, people: People):
    rhea = client_of(people.rhea)
    assert "test.note" in rhea.get(reverse("task-start")).content.decode()
    assert rhea.get(url("no.such")).status_code == 404
    vera = client_of(person("vera", people.workspace, Role.VIEWER))
    assert "may not start tasks" in vera.get(url("test.note")).content.decode()
    assert post(vera, "test.note", text="x").status_code == 403
