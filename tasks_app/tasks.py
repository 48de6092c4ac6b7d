"""The Celery task: a message says "look at task T"; what is done about it is decided by what Postgres says."""

import time
import traceback
from typing import Any
from uuid import UUID, uuid4

import structlog
from celery import Task as CeleryTask
from celery import shared_task
from celery.exceptions import TimeLimitExceeded
from django.db import InterfaceError, InternalError, OperationalError, close_old_connections

from core.database_trouble import database_away, database_trouble
from core.errors import HandrailError
from core.models import Workspace
from tasks_app.executor import slice_run
from tasks_app.keeper import asked_to_end, link
from tasks_app.keeper.client import Client, client_here
from tasks_app.leases import Lease, lease_claim
from tasks_app.losses import Loss, lease_lose
from tasks_app.services.look_up import call_look_up
from tasks_app.services.recheck import task_recheck
from tasks_app.wake import LOOK_UP, RECHECK, TASK

log = structlog.get_logger(__name__)
# Whether one of these is the database's own trouble is for ``database_away`` to say.
DatabaseErrors = (OperationalError, InterfaceError, InternalError)
LOG_LINES = 5
# An executor hands over long before (seconds): this ends one that hangs outside of any call's deadline (L04).
LONGEST_SLICE = 900.0


class SliceTask(CeleryTask):  # type: ignore[type-arg]  # not generic when it runs
    """Celery's view of a slice. Its failures, retries and results mean nothing here; the record is the truth."""

    def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        """Called in the worker's main process when the hard time limit struck: tell the keeper the cause."""
        if isinstance(exc, TimeLimitExceeded):
            link.cause_note(task=str(args[0]), cause=f"hard time limit ({exc.args[0]:g} s)")


@shared_task(name=TASK, base=SliceTask, acks_late=True, ignore_result=True, max_retries=0)
def slice_task(task_id: str) -> None:
    """Run one slice of the task, if it is due and nobody else holds it. Never fails, never retries."""
    if asked_to_end.ending():  # a hint that is lost; whoever else there is takes the task
        return
    with asked_to_end.busy():
        _slice(task_id)


def _slice(task_id: str) -> None:
    close_old_connections()  # one that broke since the last slice is noticed here, not by the claim
    task, keeper, nonce = UUID(task_id), client_here(), uuid4()
    keeper.expect(task, nonce)  # a death between the claim's commit and the watch is proven as well (L02, L03)
    try:
        lease = lease_claim(task=task, worker=keeper.identity(), nonce=nonce)
    except DatabaseErrors as error:
        if not database_away(error):
            raise
        log.warning("claim_put_off", task_id=task_id, reason=_reason(error))
        lease = None
        _give_back(task, nonce, Loss(seen="database away", counted=False))  # it may have been committed unheard
    if lease is None:
        keeper.settle(nonce)
        return
    _run(lease, keeper)


@shared_task(name=RECHECK, acks_late=True, ignore_result=True, max_retries=0)
def recheck_task(task_id: str, workspace_id: str, actor: str) -> None:
    """Check the evidence of a completed task again for ``actor``, who was allowed to ask."""
    close_old_connections()
    try:
        task_recheck(workspace=Workspace.objects.get(pk=workspace_id), task=UUID(task_id), actor=actor)
    except (HandrailError, *DatabaseErrors) as error:
        log.warning("recheck_not_done", task_id=task_id, reason=str(error))


@shared_task(name=LOOK_UP, acks_late=True, ignore_result=True, max_retries=0)
def look_up_task(task_id: str, workspace_id: str, name: str, actor: str) -> None:
    """Look a call in doubt up for ``actor``, who was allowed to ask; what was seen is in the record."""
    close_old_connections()
    try:
        workspace = Workspace.objects.get(pk=workspace_id)
        call_look_up(workspace=workspace, task=UUID(task_id), name=name, actor=actor)
    except (HandrailError, *DatabaseErrors) as error:
        log.warning("look_up_not_done", task_id=task_id, call=name, reason=str(error))


def _run(lease: Lease, keeper: Client) -> None:
    keeper.watch(lease, slice_deadline=time.monotonic() + LONGEST_SLICE)
    try:
        slice_run(lease=lease, keeper=keeper, drain=keeper.draining)
    except Exception as error:  # the record must say so, whatever it was
        _failed(lease, error)
    # Not in a "finally": a process that is being ended (SystemExit) has not let go, and its keeper proves the death.
    keeper.forget(lease)


def _failed(lease: Lease, error: Exception) -> None:
    """Give the task back. A database that is away is nobody's fault, and if it stays away the lease runs out."""
    if database_away(error):
        log.warning("slice_put_off", task_id=str(lease.task), epoch=lease.token.epoch, reason=_reason(error))
        _give_back(lease.task, lease.token.nonce, Loss(seen="database away", counted=False))
        return
    lines = [line.rstrip() for line in traceback.format_exception(error)][-LOG_LINES:]
    log.error("slice_failed", task_id=str(lease.task), epoch=lease.token.epoch, error=repr(error), trace=lines)
    seen = f"executor failed: {type(error).__name__}"
    _give_back(lease.task, lease.token.nonce, Loss(seen=seen, log_tail=lines))


def _reason(error: Exception) -> str:
    return database_trouble(error) or type(error).__name__


def _give_back(task: UUID, nonce: UUID, loss: Loss) -> None:
    """Declare our own slice lost. If the database stays away, the lease runs out by itself."""
    close_old_connections()
    try:
        lease_lose(task=task, nonce=nonce, loss=loss, actor=f"worker:{client_here().identity().name}")
    except DatabaseErrors as error:
        log.warning("loss_not_written", task_id=str(task), error=type(error).__name__)
