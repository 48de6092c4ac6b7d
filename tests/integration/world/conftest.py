"""A real outside world for tests: one process a module, fresh keys a test."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos_app.world.client import World, WorldClient, world_start

INCIDENTS = Path(__file__).resolve().parents[3] / "examples" / "incidents.json"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_start(tmp_path_factory.mktemp("world"), seed=INCIDENTS) as running:
        yield running


@pytest.fixture
def client(world: World) -> Iterator[WorldClient]:
    yield world.client
    world.client.disarm()


@pytest.fixture
def key() -> str:
    return uuid.uuid4().hex
