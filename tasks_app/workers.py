"""Workers as the record knows them: which start of which worker lives, and what code it carries.

A row is written and kept fresh by the worker's keeper; a row not seen for a lease is a worker that has gone.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from core.clock import ClockTimestamp, database_now
from tasks_app import registry
from tasks_app.models import Worker
from tasks_app.sandbox.levels import level_here

FORGET_AFTER = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDescription:
    """One start of one Celery worker, as its main process tells its keeper."""

    id: str
    name: str
    host: str
    pid: int
    pool: str
    code_digest: str
    carries: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def carries_now() -> dict[str, Any]:
    """Say what this process carries, the limits that those without user code must know, and how strong its walls are.

    Limits: losses an agent. Walls: the level of its sandboxes, and what that lacks.
    """
    losses = {agent.name: agent.losses for agent in registry.agents()}
    return {**registry.carries(), "losses": losses, "sandbox": asdict(level_here())}


def worker_seen(*, worker: WorkerDescription, keeper_pid: int, draining: bool) -> None:
    """Write or refresh the row of a living worker, by the database's clock (its keeper, each second)."""
    fresh = {"seen_at": ClockTimestamp(), "keeper_pid": keeper_pid, "draining": draining}
    if Worker.objects.filter(pk=worker.id).update(**fresh):
        return
    now = database_now()
    Worker.objects.update_or_create(
        pk=UUID(worker.id),
        defaults={
            "name": worker.name,
            "host": worker.host,
            "pid": worker.pid,
            "pool": worker.pool,
            "code_digest": worker.code_digest,
            "carries": dict(worker.carries),
            "keeper_pid": keeper_pid,
            "draining": draining,
            "started_at": now,
            "seen_at": now,
        },
    )


def workers_alive() -> QuerySet[Worker]:
    """Select the workers that were seen within a lease."""
    return Worker.objects.filter(seen_at__gt=ClockTimestamp() - timedelta(seconds=settings.LEASE_SECONDS))


def version_carried(*, agent: str, version: int) -> bool:
    """Say whether a living worker carries that version of the agent."""
    carries: Q = Q(carries__agents__contains={agent: [version]})
    return workers_alive().filter(carries, draining=False).exists()


def loss_limit(*, agent: str) -> int | None:
    """Return after how many losses at one place the agent's tasks are quarantined, as its newest worker says."""
    known = Worker.objects.filter(carries__losses__has_key=agent).order_by("-seen_at")
    carries = known.values_list("carries", flat=True).first()
    return carries["losses"][agent] if carries else None


def workers_forget() -> int:
    """Remove the rows of workers that have long gone; returns how many."""
    return Worker.objects.filter(seen_at__lt=ClockTimestamp() - FORGET_AFTER).delete()[0]
