"""Every error of the API is problem details (RFC 9457), and none says anything of the inside."""

import json
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection
from django.http import HttpResponse
from django.test import Client

import tests.agents  # noqa: F401 - declares the agents
from core import api as api_module
from core.problem import CONSTRAINTS, problem_of
from tests.people import People

TASKS = "/api/v1/tasks"


@pytest.fixture
def rhea(people: People, client: Client) -> Client:
    client.force_login(people.rhea)
    return client


def problem(response: HttpResponse, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == status
    assert {"type", "title", "detail", "instance", "code"} <= body.keys()
    return body


def post(client: Client, body: Any, **headers: str) -> HttpResponse:
    return client.post(TASKS, body, content_type="application/json", headers=headers)  # type: ignore[return-value]


def test_fields_that_do_not_fit_are_named(rhea: Client) -> None:
    body = problem(post(rhea, {"agent": "test.free", "intent": "text"}), 422)
    assert [error["field"] for error in body["errors"]] == ["body.intent"]
    body = problem(post(rhea, {"agent": "test.note", "intent": {"text": 3}}), 422)
    assert [error["field"] for error in body["errors"]] == ["intent.text"]


@pytest.mark.parametrize(
    "text", ["{", '{"agent": NaN}', '{"agent": "a", "agent": "b", "intent": {}}', '"' + "[" * 100_000, "\xff"]
)
def test_a_body_that_is_not_json_is_a_400(rhea: Client, text: str) -> None:
    response = rhea.post(TASKS, text.encode("latin-1"), content_type="application/json")
    assert "Traceback" not in problem(response, 400)["detail"]  # type: ignore[arg-type]


def test_who_is_not_signed_in_is_told_how_to(client: Client, db: None) -> None:
    response: Any = client.get(TASKS)
    problem(response, 401)
    assert response["WWW-Authenticate"].startswith("Bearer")
    problem(client.get(TASKS, headers={"Authorization": "Bearer hr_guess"}), 401)  # type: ignore[arg-type]


def test_a_session_without_its_csrf_mark_changes_nothing(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.rhea)
    assert "X-CSRFToken" in problem(post(client, {"agent": "test.free", "intent": {}}), 403)["detail"]
    assert client.get(TASKS).status_code == 200
    client.cookies["csrftoken"] = "a" * 32
    assert post(client, {"agent": "test.free", "intent": {}}, **{"X-CSRFToken": "a" * 32}).status_code == 201


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nothing",
        "/api/nothing",
        f"{TASKS}/no-uuid",
        f"{TASKS}/01a2287c-0000-7000-8000-000000000000",
        f"{TASKS}?workspace=elsewhere",
        f"{TASKS}?workspace=nowhere",
    ],
)
def test_what_is_not_here_is_a_404(rhea: Client, path: str) -> None:
    problem(rhea.get(path), 404)  # type: ignore[arg-type]


def test_a_wrong_method_is_a_405_with_those_allowed(rhea: Client) -> None:
    response: Any = rhea.delete(TASKS)
    problem(response, 405)
    assert "POST" in response["Allow"]


def test_a_body_over_the_limit_is_a_413(rhea: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    problem(post(rhea, {"agent": "test.free", "intent": {"x": "y" * 1000}}), 413)


def test_a_key_for_another_body_is_a_409_naming_the_task(rhea: Client) -> None:
    first = post(rhea, {"agent": "test.free", "intent": {}}, **{"Idempotency-Key": "k"}).json()  # type: ignore[attr-defined]
    body = problem(post(rhea, {"agent": "test.free", "intent": {"other": 1}}, **{"Idempotency-Key": "k"}), 409)
    assert (body["code"], body["task"]) == ("request-key-reused", first["id"])


def raising(error: Exception) -> Any:
    def fail(**_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("password=hunter2 in /srv/secret"), 500),
        (OperationalError("connection to server at 10.0.0.7 failed"), 503),
        (psycopg.OperationalError("server closed the connection"), 503),
        (DataError("invalid byte sequence"), 422),
        (IntegrityError("some internal constraint"), 500),
    ],
)
def test_a_fault_of_ours_says_nothing_of_the_inside(
    rhea: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    monkeypatch.setattr("tasks_app.api.tasks.task_list", raising(error))
    response: Any = rhea.get(TASKS)
    body = problem(response, status)
    assert not any(word in json.dumps(body) for word in ("hunter2", "10.0.0.7", "server closed", "byte", "internal"))
    assert ("reference" in body) == (status == 500)
    assert response.get("Retry-After") == ("2" if status == 503 else None)


def test_every_constraint_in_the_table_exists(db: None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class WHERE relkind = 'i'")
        known = {name for (name,) in cursor.fetchall()}
    assert set(CONSTRAINTS) <= known


def test_a_broken_constraint_of_the_table_is_its_sentence(people: People) -> None:
    with pytest.raises(IntegrityError) as caught:
        type(people.workspace).objects.create(slug="harbour", name="Again")
    assert (problem_of(caught.value).status, problem_of(caught.value).code) == (409, "conflict")


def test_every_route_declares_its_answer_or_is_a_download() -> None:
    paths = api_module.api.get_openapi_schema()["paths"]
    assert len(paths) >= 15


def test_a_database_whose_disk_is_full_is_named_and_leaves_no_trace(
    rhea: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(**_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$")

    monkeypatch.setattr("tasks_app.api.tasks.task_create", full)
    body = problem(post(rhea, {"agent": "test.free", "intent": {}}), 503)
    assert body["detail"].startswith("The disk of the database is full")
    assert [record.exc_info for record in caplog.records if record.name == "handrail.problem"] == [None]


def test_not_being_ready_is_one_line_of_the_log_without_a_trace(
    client: Client, db: None, caplog: pytest.LogCaptureFixture
) -> None:
    response: Any = client.get("/api/v1/ready")
    assert problem(response, 503)["parts"]["worker"].startswith("no worker")
    assert "Traceback" not in caplog.text
