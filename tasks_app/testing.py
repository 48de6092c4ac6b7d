"""Fakes that the package ships for tests of agents and tools: run slices in this process, without Celery."""

import os
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from tasks_app.executor import slice_run
from tasks_app.leases import Lease, WorkerIdentity, lease_claim
from tasks_app.models import Task, Worker
from tasks_app.registry import carries


@dataclass(slots=True)
class StillKeeper:
    """A keeper that watches nothing; ``gone`` holds the leases that count as lost."""

    gone: set[UUID] = field(default_factory=set)

    def watch(self, lease: Lease, *, slice_deadline: float) -> None:
        """Do nothing."""

    def deadline(self, lease: Lease, until: float | None) -> None:
        """Do nothing."""

    def forget(self, lease: Lease) -> None:
        """Do nothing."""

    def lost(self, lease: Lease) -> bool:
        """Whether the test has taken the lease away."""
        return lease.token.nonce in self.gone


def worker_here(name: str = "test") -> WorkerIdentity:
    """Register a worker that carries what this process carries, seen as alive for a day."""
    now = datetime.now(UTC)
    identity = uuid4()
    Worker.objects.create(
        id=identity,
        name=name,
        host=socket.gethostname(),
        pid=os.getpid(),
        pool="test",
        carries=carries(),
        started_at=now,
        seen_at=now.replace(year=now.year + 1),
    )
    return WorkerIdentity(id=identity, name=name, host=socket.gethostname(), pid=os.getpid())


def slice_here(task: UUID, worker: WorkerIdentity, keeper: StillKeeper | None = None) -> bool:
    """Claim and run one slice here; False where the task was not due."""
    lease = lease_claim(task=task, worker=worker)
    if lease is None:
        return False
    slice_run(lease=lease, keeper=keeper or StillKeeper(), drain=lambda: False)
    return True


def task_run(task: UUID, worker: WorkerIdentity, *, most: int = 20) -> Task:
    """Run slices as long as the task is due."""
    for _ in range(most):
        if not slice_here(task, worker):
            break
    return Task.objects.get(pk=task)
