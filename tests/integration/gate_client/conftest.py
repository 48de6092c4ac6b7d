"""A real web process with a gate, and a client for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from handrail_gate import Gate

import tests.gate_tools  # noqa: F401  # carried here as well: some tests decide in this process
from approvals_app.selectors.policy import rules_forget
from core.access import Right
from tasks_app.services.access import token_create
from tests.desk import Desk, desk_create
from tests.serving import WebServer, web_server


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    rules_forget()
    return desk_create()


@pytest.fixture
def token(desk: Desk) -> str:
    made = token_create(
        workspace=desk.workspace,
        user=desk.owen,
        name="noter",
        scopes=[Right.GATE_USE],
        days=1,
        actor="system",
        kind="agent",
    )
    return made[1]


@pytest.fixture
def server(desk: Desk, child_environment: dict[str, str], tmp_path: Path) -> Iterator[WebServer]:
    environment = child_environment | {"HANDRAIL_MODULES": "tests.gate_tools"}
    with web_server(environment, tmp_path) as server:
        yield server


@pytest.fixture
def gate(server: WebServer, token: str) -> Iterator[Gate]:
    with Gate(server.address, token, patience=5.0) as gate:
        yield gate
