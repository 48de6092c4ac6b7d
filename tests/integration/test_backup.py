"""The deployment guide's backup and restore, run word for word: the record is whole, and work goes on once."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.embedded.postgres import binary
from core.embedded.services import Services, embedded
from tests.processes import ROOT, running, wait_for

pytestmark = pytest.mark.timeout(400)
GUIDE = (ROOT / "docs" / "deployment.md").read_text()
OWNER = "handrail_owner"
WORKER = ("-m", "celery", "-A", "core", "worker", "-n", "w@%h", "-l", "INFO", "--concurrency", "1")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
MAKE = """
from django.contrib.auth.models import User
from core.models import Membership, Workspace
import tests.agents
from tasks_app.services.create import task_create
workspace = Workspace.objects.create(slug="w", name="W")
rhea = User.objects.create_user("rhea")
Membership.objects.create(user=rhea, workspace=workspace, role="engineer")
task_create(workspace=workspace, owner=rhea, actor="person:rhea", agent="test.writer", intent={})
"""
SIGNAL = """
from core.models import Workspace
import tests.agents
from tasks_app.models import Task
from tasks_app.services.signal import signal_send
task = Task.objects.get()
signal_send(workspace=Workspace.objects.get(), task=task.pk, name="go", payload="on", actor="person:rhea")
"""


@dataclass
class Place:
    """One installation: its servers, its two roles, its processes."""

    services: Services
    folder: Path

    @property
    def database(self) -> str:
        return self.services.database_url.replace("/handrail?", "/record?")

    @property
    def owner(self) -> str:
        return self.database.replace("handrail@", f"{OWNER}@")

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_")}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "core.settings",
            "DATABASE_URL": self.database,
            "REDIS_URL": self.services.redis_url,
            "HANDRAIL_MODULES": "tests.agents",
        }

    def empty_database(self) -> None:
        with psycopg.connect(self.services.postgres.superuser_url, autocommit=True) as superuser:
            superuser.execute(f"CREATE ROLE {OWNER} LOGIN")
            superuser.execute(f"CREATE DATABASE record OWNER {OWNER}")

    def one(self, query: str) -> Any:
        with psycopg.connect(self.database) as connection:
            row = connection.execute(query).fetchone()  # type: ignore[arg-type]
        return row[0] if row else None

    def manage(self, *arguments: str, **more: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=ROOT, env=self.environment | more, check=True, capture_output=True)

    def guide(self, name: str, *, folder: Path) -> None:
        """Run the guide's commands of that name, in ``folder``."""
        found = re.search(rf"```sh {name}\n(.*?)```", GUIDE, re.S)
        assert found, name
        commands = found[1].replace("python manage.py", f'"{sys.executable}" "{ROOT}/manage.py"')
        more = {
            "DATABASE_OWNER_URL": self.owner,
            "SUPERUSER_URL": self.services.postgres.superuser_url,
            "PATH": f"{binary('pg_dump').parent}:{os.environ['PATH']}",
        }
        done = subprocess.run(
            ["sh", "-eu", "-c", commands], cwd=folder, env=self.environment | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Run a worker and a sweeper."""
        log = self.folder / "work.log"
        with (
            running(*WORKER, *QUIET, env=self.environment, log=log),
            running("manage.py", "sweep", env=self.environment, log=log),
        ):
            yield

    def status(self) -> str:
        return str(self.one("SELECT status FROM tasks_app_task"))


@contextmanager
def place(folder: Path, **settings: str) -> Iterator[Place]:
    folder.mkdir(exist_ok=True)
    with embedded(folder / "var", settings={"fsync": "off"} | settings) as services:
        yield Place(services, folder)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Place]:
    """An installation with a task that has acted once and waits to be told to go on."""
    with ExitStack() as stack:
        place_ = stack.enter_context(place(tmp_path / "source"))
        place_.empty_database()
        place_.manage("migrate", "-v", "0", DATABASE_OWNER_URL=place_.owner)
        place_.manage("shell", "-v", "0", "-c", MAKE)
        with place_.at_work():
            wait_for(lambda: place_.status() == "waiting", seconds=120, what="the task to wait")
        yield place_


def goes_on_once(restored: Place, before: tuple[str, int]) -> None:
    """Tell the task to go on: it ends, nothing was attempted twice, and the new server is the known one."""
    restored.manage("shell", "-v", "0", "-c", SIGNAL)
    with restored.at_work():
        wait_for(lambda: restored.status() == "completed", seconds=120, what="the task to end")
        wait_for(lambda: not restored.one("SELECT reconciling FROM tasks_app_clusteridentity"), what="the identity")
    attempts = restored.one("SELECT count(*) FROM tasks_app_event WHERE kind = 'call.attempted'")
    names = restored.one("SELECT count(DISTINCT data->>'name') FROM tasks_app_event WHERE kind = 'call.attempted'")
    assert (attempts, names) == (2, 2)
    assert identity(restored) != before  # seen as another server, so open calls were judged
    restored.manage("record", "verify")


def identity(place_: Place) -> tuple[str, int]:
    with psycopg.connect(place_.database) as connection:
        row = connection.execute("SELECT system_identifier, timeline FROM tasks_app_clusteridentity").fetchone()
    assert row is not None
    return row[0], row[1]


def test_a_dump_is_restored_into_an_empty_instance_whole_and_goes_on(source: Place, tmp_path: Path):
    before, events = identity(source), source.one("SELECT count(*) FROM tasks_app_event")
    source.guide("dump", folder=tmp_path)
    with place(tmp_path / "target") as target:
        target.empty_database()
        target.guide("restore", folder=tmp_path)
        assert target.one("SELECT count(*) FROM tasks_app_event") == events
        with psycopg.connect(target.database) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE tasks_app_event SET actor = 'nobody'")
        goes_on_once(target, before)


def test_a_base_backup_is_recovered_on_a_new_timeline_and_goes_on(source: Place, tmp_path: Path):
    before = identity(source)
    target = tmp_path / "target"
    (target / "var").mkdir(parents=True)
    source.guide("base", folder=tmp_path)
    source.guide("recovery", folder=tmp_path)
    source.services.postgres.stop()
    (tmp_path / "base").rename(target / "var" / "postgres")
    with place(target, restore_command="false") as restored:
        restored.manage("record", "verify")
        restored.manage("record", "rebuild", "--check")
        goes_on_once(restored, before)


def test_a_dump_that_was_tampered_with_is_not_whole(source: Place, tmp_path: Path):
    source.guide("dump", folder=tmp_path)
    with place(tmp_path / "target") as target:
        target.empty_database()
        target.guide("restore", folder=tmp_path)
        with psycopg.connect(target.owner, autocommit=True) as owner:
            owner.execute("ALTER TABLE tasks_app_event DISABLE TRIGGER ALL")
            owner.execute("UPDATE tasks_app_event SET actor = 'person:nobody' WHERE seq = 2")
        with pytest.raises(subprocess.CalledProcessError) as refused:
            target.manage("record", "verify")
        assert refused.value.returncode == 1
