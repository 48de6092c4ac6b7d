"""The API through the real web process: many requests at once, its connections, and a database that is away."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.db import connection

from core.access import Right
from tasks_app.models import Task
from tasks_app.services.access import token_create
from tests.people import People
from tests.processes import running, wait_for

TASKS = "/api/v1/tasks"


@contextmanager
def web(environment: dict[str, str], folder: Path) -> Iterator[httpx.Client]:
    """Serve on a unix socket and return a client for it."""
    address = str(folder / "web.sock")
    command = ("-m", "uvicorn", "core.asgi:application", "--uds", address, "--no-access-log")
    environment = environment | {"HANDRAIL_MODULES": "tests.agents"}
    log = folder / "log"
    with running(*command, env=environment, log=log):
        wait_for(lambda: "running on" in log.read_text(), what="the web process")
        transport = httpx.HTTPTransport(uds=address)
        with httpx.Client(transport=transport, base_url="http://localhost", timeout=30) as client:
            assert client.get("/api/v1/health").json() == {"status": "ok"}
            yield client


@pytest.fixture
def client(people: People, child_environment: dict[str, str], tmp_path: Path) -> Iterator[httpx.Client]:
    _, secret = token_create(
        workspace=people.workspace,
        user=people.rhea,
        name="t",
        scopes=[Right.TASKS_READ, Right.TASKS_CREATE],
        days=1,
        actor="system",
    )
    with web(child_environment, tmp_path) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        yield client


def sessions() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_twenty_requests_at_once_with_one_key_are_one_task(client: httpx.Client) -> None:
    def create(_: int) -> httpx.Response:
        body = {"agent": "test.note", "intent": {"text": "hi"}}
        return client.post(TASKS, json=body, headers={"Idempotency-Key": "k"})

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(create, range(20)))
    assert {answer.status_code for answer in answers} == {201}
    assert {answer.json()["id"] for answer in answers} == {str(Task.objects.get().pk)}


@pytest.mark.django_db(transaction=True)
def test_requests_do_not_leave_database_connections_behind(client: httpx.Client) -> None:
    before = sessions()  # of web processes of other tests as well
    for _ in range(100):
        assert client.get(TASKS).status_code == 200
    assert sessions() - before <= 4


@pytest.mark.django_db(transaction=True)
def test_a_large_body_without_a_length_is_a_413(client: httpx.Client) -> None:
    answer = client.post(
        TASKS, content=(b" " * 100_000 for _ in range(40)), headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/problem+json")


@pytest.mark.django_db(transaction=True)
def test_readiness_names_what_is_missing(client: httpx.Client) -> None:
    answer = client.get("/api/v1/ready")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    parts = answer.json()["parts"]
    assert (parts["database"], parts["broker"]) == ("ok", "ok")
    assert "start one" in parts["worker"]
    assert "start one" in parts["sweeper"]


def test_a_database_that_is_away_is_a_503_that_says_when_to_come_back(tmp_path: Path) -> None:
    away = f"postgresql://nobody@/none?host={tmp_path}"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "core.settings", "DATABASE_URL": away}
    with web(environment, tmp_path) as client:
        answer = client.get(TASKS, headers={"Authorization": "Bearer hr_any"})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert str(tmp_path) not in answer.text
        assert "does not answer" in client.get("/api/v1/ready").json()["parts"]["database"]
