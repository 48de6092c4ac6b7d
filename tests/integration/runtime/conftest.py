"""The executor in this process, over a real outside world, dying where a test says."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

import tests.agents
import tests.outside_tools  # noqa: F401
from chaos_app.world.client import World, WorldClient, world_start
from core import boundaries
from core.boundaries import Crossing
from tasks_app.executor import slice_run
from tasks_app.leases import Lease, WorkerIdentity, lease_claim
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Event, Task
from tasks_app.runtime import attempting, ready, stepping
from tasks_app.services.create import task_create
from tasks_app.testing import StillKeeper, worker_here
from tests.people import People
from tests.processes import wait_for

INCIDENTS = Path(__file__).resolve().parents[3] / "examples" / "incidents.json"
Cross = tuple[str, str, int]
SEND = 0.8  # seconds in which an attempt of these tests is sent, or never: a machine may stand still for a while


class Death(BaseException):
    """The process ends here: nothing above may handle it."""


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_start(tmp_path_factory.mktemp("world"), seed=INCIDENTS) as running:
        os.environ["HANDRAIL_WORLD_URL"] = running.url
        yield running


@pytest.fixture
def client(world: World) -> Iterator[WorldClient]:
    yield world.client
    world.client.disarm()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.LEASE_SECONDS = 60  # no keeper renews the leases of this process, and the machine may be busy
    monkeypatch.setattr(stepping, "THINKING_SECONDS", 0.0)  # commit C alone every time, not by how busy the machine is
    for module in (attempting, ready):
        monkeypatch.setattr(module, "SEND_SECONDS", SEND)


@dataclass
class Rig:
    """Runs one task slice by slice; ``die_at`` kills the slice at the nth passage over (boundary, position)."""

    people: People
    worker: WorkerIdentity
    seen: list[Cross] = field(default_factory=list)
    die_at: Cross | None = None
    died: bool = False
    deaths: int = 0
    before_life: Callable[[Task], None] | None = None

    def task(self, agent: str = "test.act", **intent: Any) -> Task:
        return task_create(
            workspace=self.people.workspace, owner=self.people.rhea, actor="person:rhea", agent=agent, intent=intent
        )

    def run(self, task: Task, *, until: Callable[[Task], bool], seconds: float = 20) -> Task:
        """Run slices until ``until`` holds; a death is followed by a takeover."""

        def done() -> Task | None:
            self.slice(task)
            task.refresh_from_db()
            return task if until(task) else None

        found = wait_for(done, seconds=seconds, what=f"task {task.pk} to get there")
        assert found is not None
        return found

    def slice(self, task: Task) -> None:
        lease = lease_claim(task=task.pk, worker=self.worker)
        if lease is None:
            return
        boundaries.install(self.handle)
        try:
            slice_run(lease=lease, keeper=StillKeeper(), drain=lambda: False)
        except Death:
            self.bury(lease)
        finally:
            boundaries.install(None)

    def bury(self, lease: Lease) -> None:
        assert not connection.in_atomic_block
        self.deaths += 1
        loss = Loss(seen="process gone")
        lease_lose(task=lease.task, nonce=lease.token.nonce, loss=loss, actor="keeper:test")

    def handle(self, crossing: Crossing) -> None:
        before = sum(1 for one in self.seen if one[:2] == (crossing.boundary, crossing.position))
        at = (str(crossing.boundary), str(crossing.position), before + 1)
        self.seen.append(at)
        if self.die_at == at and not self.died:
            self.died = True
            raise Death


@pytest.fixture
def rig(transactional_db: None, world: World, client: WorldClient) -> Callable[[], Rig]:
    from tests.people import people_create

    people = people_create()
    worker = worker_here()
    return lambda: Rig(people=people, worker=worker)


def kinds(task: Task) -> list[str]:
    return list(Event.objects.filter(stream=task.pk).order_by("seq").values_list("kind", flat=True))


def fresh() -> str:
    return uuid4().hex[:12]
