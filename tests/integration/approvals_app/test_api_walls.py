"""Every address of the API, as its own description lists them: its walls between workspaces, roles and programs."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.access import Role
from core.api import api
from tasks_app.models import Event, StopSwitch, Task
from tests.desk import Desk, decide, parked
from tests.people import person

ODD = ["nan", "-inf", "1e400", "9" * 30, "-1", "\x00", "[", "'", "\u202e", "x" * 5000]
# The first asks, by POST; the second answers for each request apart, and says there that it is forbidden.
ANSWERED = {"/api/v1/approvals/policy/try", "/api/v1/approvals/decide"}


@cache
def schema_of_all() -> dict[str, Any]:
    return dict(api.get_openapi_schema())


def described(*, reading: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema_of_all()["paths"].items():
        for method, operation in methods.items():
            if (method == "get") == reading and not path.endswith("/ready"):
                yield path, operation


def known(path: str) -> str:
    """The address of what is there, where the path names something."""
    request = ApprovalRequest.objects.get()
    others = dict.fromkeys(("grant", "delivery", "channel"), request.pk)
    names = {"task": request.task_id, "approval": request.pk, "name": request.name, "sha256": "0" * 64, "stop": 1}
    names |= {"run": "0" * 8 + "-0000-7000-8000-" + "0" * 12, "form": "json"}
    return path.format(**names, **others)


def queries(operation: dict[str, Any]) -> list[str]:
    return [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]


def body(operation: dict[str, Any], odd: Any = None) -> str:
    """A body that fits, or one with something odd wherever it takes a word or any JSON."""
    found = operation.get("requestBody")
    return json.dumps(_made(found["content"]["application/json"]["schema"], odd)) if found else "{}"


def _made(schema: dict[str, Any], odd: Any) -> Any:
    if "$ref" in schema:
        return _made(schema_of_all()["components"]["schemas"][schema["$ref"].split("/")[-1]], odd)
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], odd)
    match schema.get("type"):
        case "object" if "properties" in schema:
            return {name: _made(one, odd) for name, one in schema["properties"].items()}
        case "object":
            return {"x": odd} if odd is not None else {}
        case "array":
            return [_made(schema["items"], odd)]
        case "boolean":
            return True
        case "integer" | "number":
            return 1
    if "enum" in schema or "const" in schema:
        return schema.get("const") or schema["enum"][0]
    if schema.get("format") == "uuid":
        return str(ApprovalRequest.objects.get().pk)
    if schema.get("format") == "date-time":
        return "2027-01-01T00:00:00Z"
    return odd if odd is not None else "x" * max(1, schema.get("minLength", 1))


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def state(desk: Desk) -> tuple[Any, ...]:
    tasks = Task.objects.filter(workspace=desk.workspace)
    streams = [desk.workspace.pk, *tasks.values_list("pk", flat=True)]
    heads = sorted(Event.objects.filter(stream__in=streams).values_list("stream", "seq"))
    return heads, ApprovalRequest.objects.get().status, StopSwitch.objects.filter(workspace=desk.workspace).count()


def test_nothing_that_is_asked_of_an_address_makes_it_fail(desk: Desk):
    reader = client_of(person("nora", desk.workspace, *Role))
    decide(parked(desk), desk.silas, Answer.DENIED)
    failed = []
    for path, operation in described(reading=True):
        asked = [(known(path), {name: odd}) for name in queries(operation) for odd in ODD]
        worn = [path.replace(name, quote(odd)) for name in ("{name}", "{sha256}") if name in path for odd in ODD]
        asked += [(known(one), {}) for one in worn]
        failed += [(one, query) for one, query in asked if reader.get(one, query).status_code >= 500]
    assert failed == []


def test_nothing_that_is_sent_to_an_address_makes_it_fail(desk: Desk):
    nora = client_of(person("nora", desk.workspace, *Role))
    parked(desk)
    failed = []
    for path, operation in described(reading=False):
        for odd in (*ODD, {"x": "@@"}, "\ud83d", 10**400, [None]):
            sent = body(operation, odd).replace('"@@"', "1e999")
            if nora.post(known(path), sent, content_type="application/json").status_code >= 500:
                failed.append((path, str(odd)[:20]))
    assert failed == []


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
def test_who_may_only_look_changes_nothing_at_any_address(desk: Desk, role: Role):
    parked(desk)
    client, before = client_of(person("nora", desk.workspace, role)), state(desk)
    for path, operation in described(reading=False):
        answer = client.post(known(path), body(operation), content_type="application/json")
        assert path in ANSWERED or answer.status_code in {403, 404, 409}, (path, answer.status_code, answer.content)
        assert state(desk) == before, path


def test_who_belongs_elsewhere_reads_and_changes_nothing_here_at_any_address(desk: Desk):
    request = parked(desk)
    client, before = client_of(desk.tobin), state(desk)
    secrets = (str(request.pk), str(request.task_id), request.line)
    for path, _ in described(reading=True):
        here = client.get(known(path), {"workspace": desk.workspace.slug})
        assert here.status_code == 404 or path.endswith("/health"), path
        shown = client.get(known(path)).content.decode().replace(known(path), "")
        assert not any(secret in shown for secret in secrets), path
    for path, operation in described(reading=False):
        for at in (known(path), f"{known(path)}?workspace={desk.workspace.slug}"):
            client.post(at, body(operation), content_type="application/json")
            assert state(desk) == before, at
