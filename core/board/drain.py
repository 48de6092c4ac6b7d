"""Draining a worker: it takes nothing new, its slices hand over at their next safe point, then it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from celery import current_app
from django.conf import settings
from kombu import Connection

from core.clock import database_now
from core.errors import Conflict, NotFound, Unavailable
from core.models import Workspace
from core.principal import Principal
from tasks_app.models import Worker
from tasks_app.record.append import append_administration
from tasks_app.record.events import WorkerDrainAsked
from tasks_app.sweeper_row import POOL

TOLD_WITHIN = 3  # seconds that the broker has to take the message


def worker_drain(*, principal: Principal, worker: UUID, reason: str) -> Worker:
    """Ask one worker to drain. Whoever keeps it running (``manage.py up``, systemd) then starts it afresh.

    The message may be lost, as any; the page shows "Draining" once the worker's keeper says so. Raises NotFound,
    Conflict where it has gone or is a sweeper, Unavailable where the broker is away.
    """
    found = Worker.objects.filter(pk=worker).first()
    if found is None:
        raise NotFound
    if found.pool == POOL:
        raise Conflict("A sweeper holds no task; stop its process, nothing needs to be handed over.")
    if found.seen_at < database_now() - timedelta(seconds=settings.LEASE_SECONDS):
        raise Conflict("This worker has gone already; what it held is taken over by itself.")
    asked = WorkerDrainAsked(worker=found.name, host=found.host, pid=found.pid, reason=reason)
    with _broker() as broker:
        # Who asked is kept before anything is done: a worker must not end and nobody know why.
        for workspace in _served(principal):
            append_administration(workspace=workspace, events=[asked], actor=principal.actor)
        _tell(found.name, broker)
    return found


def _served(principal: Principal) -> list[UUID]:
    """Return every workspace, for a worker serves them all: first the one of whoever asks."""
    here = principal.workspace.pk
    return [here, *Workspace.objects.exclude(pk=here).order_by("pk").values_list("pk", flat=True)]


@contextmanager
def _broker() -> Iterator[Connection]:
    with current_app.connection_for_write() as broker:
        try:
            broker.ensure_connection(max_retries=1, timeout=TOLD_WITHIN)
        except Exception as error:  # whatever the transport raises
            raise Unavailable("The broker is away, so the worker could not be told; nothing was changed.") from error
        yield broker


def _tell(name: str, broker: Connection) -> None:
    try:
        current_app.control.shutdown(destination=[name], connection=broker)
    except Exception as error:
        said = "The broker went away, so the worker was not told; that you asked is in the record. Ask again."
        raise Unavailable(said) from error
