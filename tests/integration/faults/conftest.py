"""The executor in this process and real workers, over one real outside world; and servers of a test's own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import connection

import tests.scripts  # noqa: F401 - declares agents and tools
from chaos_app.world.client import World
from core.embedded import address
from core.embedded.services import Services
from core.environment import database_read
from tasks_app import wake
from tests.crew import Crew
from tests.integration.runtime.conftest import _short_waits, client, rig, world  # noqa: F401
from tests.people import people_create
from tests.processes import ROOT


@pytest.fixture
def crew(child_environment: dict[str, str], world: World, tmp_path: Path) -> Iterator[Crew]:  # noqa: F811
    with ExitStack() as stack:
        environment = child_environment | {"HANDRAIL_WORLD_URL": os.environ["HANDRAIL_WORLD_URL"]}
        yield Crew(stack, environment, tmp_path, people_create())


@dataclass
class Alone:
    """Servers that this test alone uses, and a crew on them."""

    services: Services
    crew: Crew


@pytest.fixture
def alone(
    private_services: Callable[[], Services],
    world: World,  # noqa: F811
    tmp_path: Path,
    django_db_blocker: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Alone]:
    """A private Postgres and Valkey; this process's own connections go there too, until the test ends."""
    services = private_services()
    broker = address.celery_broker_url(services.redis_url)
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "CELERY_BROKER_URL": broker,
        "HANDRAIL_WORLD_URL": os.environ["HANDRAIL_WORLD_URL"],
    }
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v", "0"], env=environment, cwd=ROOT, check=True, capture_output=True
    )
    theirs = connection.settings_dict
    monkeypatch.setitem(current_app.conf, "broker_url", broker)
    wake.broker.close()
    with django_db_blocker.unblock(), ExitStack() as stack:
        connection.close()
        connection.settings_dict = {**theirs, **database_read("DATABASE_URL", services.database_url)}
        try:
            yield Alone(services, Crew(stack, environment, tmp_path, people_create()))
        finally:
            connection.close()
            connection.settings_dict = theirs
            wake.broker.close()
