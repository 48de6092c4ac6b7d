"""The executor in this process and real workers, over one real outside world."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import tests.scripts  # noqa: F401 - declares agents and tools
from chaos_app.world.client import World
from tests.crew import Crew
from tests.integration.runtime.conftest import _short_waits, client, rig, world  # noqa: F401
from tests.people import people_create


@pytest.fixture
def crew(child_environment: dict[str, str], world: World, tmp_path: Path) -> Iterator[Crew]:  # noqa: F811
    with ExitStack() as stack:
        environment = child_environment | {"HANDRAIL_WORLD_URL": os.environ["HANDRAIL_WORLD_URL"]}
        yield Crew(stack, environment, tmp_path, people_create())
