"""Real workers and sweepers on this test's database, and tasks for them."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from subprocess import Popen
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings

import tests.slices  # noqa: F401 - declares slice.work and slice.single
from core.clock import database_now
from tasks_app.leases import WorkerIdentity
from tasks_app.models import Event, Task, Worker
from tasks_app.services.create import task_create
from tests.people import People, people_create
from tests.processes import running, wait_for

WORKER = WorkerIdentity(id=uuid4(), name="w1", host="here", pid=1)


@dataclass
class Fleet:
    """Starts workers, sweepers and tasks; what it started ends with the test."""

    stack: ExitStack
    environment: dict[str, str]
    folder: Path
    counter: Any

    def worker(
        self,
        name: str = "one",
        *,
        pool: str = "prefork",
        concurrency: int = 2,
        more: tuple[str, ...] = (),
        app: str = "tests.slices",
    ) -> Popen[bytes]:
        log = self.folder / f"{name}-{next(self.counter)}.log"
        command = ["-m", "celery", "-A", app, "worker", "-n", f"{name}@%h", "--pool", pool, "-l", "INFO"]
        command += [
            "--concurrency",
            str(concurrency),
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            *more,
        ]
        process = self.stack.enter_context(running(*command, env=self.environment, log=log))
        wait_for(lambda: " ready." in log.read_text(), seconds=90, what=f"worker {name} to be ready")
        return process

    def sweeper(self) -> Popen[bytes]:
        """Start a sweeper and wait until it has watched for a whole lease: only then may it judge by time."""
        log = self.folder / f"sweeper-{next(self.counter)}.log"
        process = self.stack.enter_context(running("manage.py", "sweep", env=self.environment, log=log))
        lease = float(self.environment.get("HANDRAIL_LEASE_SECONDS", settings.LEASE_SECONDS))
        wait_for(lambda: _watched(lease), seconds=90, what="the sweeper to have watched for a whole lease")
        return process

    def gate(self) -> Path:
        return self.folder / f"gate-{next(self.counter)}"

    def task(self, *does: str, agent: str = "slice.work", **intent: Any) -> Task:
        people = self.people
        return task_create(
            workspace=people.workspace,
            owner=people.rhea,
            actor="person:rhea",
            agent=agent,
            intent={"does": list(does), **intent},
        )


@pytest.fixture
def fleet(child_environment: dict[str, str], tmp_path: Path) -> Iterator[Fleet]:
    environment = child_environment | {"HANDRAIL_MODULES": "tests.slices"}
    with ExitStack() as stack:
        fleet = Fleet(stack, environment, tmp_path, itertools.count())
        fleet.people = people_create()  # type: ignore[attr-defined]
        yield fleet


def _watched(lease: float) -> bool:
    long_ago = database_now() - timedelta(seconds=lease + 0.5)
    return Worker.objects.filter(pool="sweeper", started_at__lt=long_ago).exists()


def kinds(task: UUID) -> list[str]:
    """Return the kinds of a task's events, in order."""
    return list(Event.objects.filter(stream=task).order_by("seq").values_list("kind", flat=True))


def event(task: UUID, kind: str, nth: int = 0) -> Event:
    """Return the nth event of a kind."""
    return Event.objects.filter(stream=task, kind=kind).order_by("seq")[nth]


def wait_for_event(task: UUID, kind: str, count: int = 1, seconds: float = 40) -> Event:
    """Wait until the task has so many events of the kind; return the last of them."""
    wait_for(lambda: kinds(task).count(kind) >= count, seconds=seconds, what=f"{count} x {kind}; have {kinds(task)}")
    return event(task, kind, count - 1)


Kill = Callable[[int], None]


def due(people: People, agent: str = "slice.work") -> Task:
    return task_create(
        workspace=people.workspace, owner=people.rhea, actor="person:rhea", agent=agent, intent={"does": ["finish"]}
    )
