"""Wake-ups: "look at task T", sent once the change is committed. A hint that may be lost; the sweeper looks too."""

from uuid import UUID

import structlog
from celery import current_app

from core.boundaries import Boundary, Position, cross
from core.hints import after_commit

log = structlog.get_logger(__name__)


def wake(task_id: UUID) -> None:
    """Ask a worker to look at the task once the current transaction is committed (B02)."""
    after_commit(lambda: _send(task_id))


def _send(task_id: UUID) -> None:
    cross(Boundary.WAKE_UP, Position.BEFORE, task=task_id)
    try:
        current_app.send_task("tasks_app.slice", args=[str(task_id)], retry=False, ignore_result=True)
    except Exception as error:  # no broker: the sweeper finds what is due
        log.warning("wake_up_lost", task_id=str(task_id), error=type(error).__name__)
