"""What nobody sends by mistake is refused in clear words: it ends no process and comes to no error of ours."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django import forms
from django.http import HttpResponse
from django.test import Client
from pydantic import BaseModel

import tests.agents  # noqa: F401 - declares the agents
from core.access import Right
from core.errors import InvalidInput
from tasks_app import registry
from tasks_app.decisions import Call as CallDecision
from tasks_app.form_fields import JsonField, ScalarField
from tasks_app.runtime.intending import CannotIntend, call_intend
from tasks_app.services.intake import intent_checked
from tests.desk import CLEAN, Desk, parked, rule, task_create
from tests.integration.approvals_app.test_api import ALL, client_of

DEEPEST = "[" * 60_000
BRACKETS = "[" * 100 + "]" * 100
UNFIT = [
    (DEEPEST, "64 levels deep"),
    (BRACKETS, "64 levels deep"),
    ("9" * 5000, "more digits than can be read"),
    (r'{"a": "\ud800"}', "which is no character"),
]


class Loose(BaseModel):
    fields: dict[str, Any]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_no_rule_is_tried_on_arguments_that_no_call_could_have(desk: Desk):
    rule(desk, "any", "arguments.a == 1")
    vera = client_of(desk, desk.vera, Right.APPROVALS_READ)
    tried = {"tool": "desk.clean", "arguments": deep(200)}
    said = vera.post(f"{ALL}/policy/try", tried, content_type="application/json")
    assert said.status_code == 422
    assert "nested deeper than 64 levels" in said.json()["detail"]


def test_the_page_of_rules_refuses_them_as_well(desk: Desk, client: Client):
    rule(desk, "any", "arguments.a == 1")
    client.force_login(desk.vera)
    page = client.get("/approvals/rules/", {"tool": "desk.clean", "arguments": json.dumps(deep(200))})
    assert (page.status_code, page.context["trial"]) == (200, None)
    assert "64 levels deep in each other" in page.content.decode()


@pytest.mark.parametrize(("text", "said"), UNFIT)
@pytest.mark.parametrize("field", ["arguments", "labels"])
def test_the_page_of_rules_says_what_is_wrong_with_json_that_nobody_could_keep(
    desk: Desk, client: Client, field: str, text: str, said: str
):
    client.force_login(desk.vera)
    page = client.get("/approvals/rules/", {"tool": "desk.clean", "arguments": "{}", field: text})
    assert (page.status_code, page.context["trial"]) == (200, None)
    assert said in page.content.decode()


@pytest.mark.parametrize(("text", "said"), UNFIT)
def test_a_signal_and_a_start_say_what_is_wrong_with_json_that_nobody_could_keep(
    desk: Desk, client: Client, text: str, said: str
):
    client.force_login(desk.owen)
    task = task_create(desk)
    signal = {"signal-name": "go", "signal-payload": text, "signal-request_key": "k"}
    started = {"intent-intent": text, "request_key": "k", "title": ""}
    for path, sent in ((f"/tasks/{task.pk}/do/signal/", signal), ("/tasks/start/?agent=test.free", started)):
        answer = client.post(path, sent)
        assert answer.status_code < 500
        assert said in answer.content.decode()


@pytest.mark.parametrize(("text", "said"), UNFIT)
def test_a_field_of_an_edit_refuses_it_as_well(text: str, said: str):
    with pytest.raises(forms.ValidationError, match=said):
        JsonField().clean(text)
    with pytest.raises(forms.ValidationError):
        ScalarField(kinds=["number"]).clean(text)


@pytest.mark.parametrize(
    "query", [{"since": "0001-01-01T00:00+14:00"}, {"until": "9999-12-31T23:59-14:00"}, {"since": "0001-01-01T00:00"}]
)
def test_a_moment_that_utc_has_no_name_for_narrows_nothing(desk: Desk, client: Client, query: dict[str, str]):
    client.force_login(desk.vera)
    for path in ("/tasks/", "/tasks/live/"):
        assert client.get(path, query).status_code == 200


def test_a_grant_without_a_zone_at_its_end_is_refused_at_its_field(desk: Desk):
    rhea = client_of(desk, desk.rhea, Right.APPROVALS_READ, Right.APPROVALS_DECIDE)
    body = {"ends_at": "2026-12-01T00:00:00", "most_uses": 1, "reason": "often"}
    said = post(rhea, f"{ALL}/{parked(desk).pk}/grant", json.dumps(body))
    assert said.status_code == 422
    assert "timezone" in said.content.decode()


@pytest.mark.parametrize("body", [DEEPEST, "9" * 5000])
def test_a_body_that_nobody_can_read_is_the_senders_mistake(desk: Desk, body: str):
    vera = client_of(desk, desk.vera, Right.APPROVALS_READ)
    assert post(vera, f"{ALL}/policy/try", body).status_code == 400


def test_an_intent_that_cannot_be_written_as_json_is_refused_at_its_field():
    with pytest.raises(InvalidInput, match="intent: cannot be written as JSON"):
        intent_checked(Loose, {"fields": deep(300)})


def test_a_call_that_cannot_be_written_as_json_is_refused_and_loses_no_worker(desk: Desk, monkeypatch):
    monkeypatch.setattr(registry, "tool_newest", lambda name: replace(CLEAN, arguments=Loose))
    decided = CallDecision(tool=CLEAN.name, name="loose", arguments={"fields": deep(300)})
    with pytest.raises(CannotIntend) as refused:
        call_intend(decided, task=task_create(desk), step=1, ordinal=0, names={})
    assert refused.value.refusal["code"] == "unfit-arguments"


def post(client: Client, path: str, body: str) -> HttpResponse:
    return client.post(path, body, content_type="application/json")  # type: ignore[return-value]
