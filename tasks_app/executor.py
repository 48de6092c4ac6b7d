"""The executor: one slice of one task, from claim to release. Fresh work and takeover are one path.

Rejected: replaying user code (the agent is called with the record and returns one decision), and a
separate recovery path (what is never used in good times is broken in bad ones).
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import structlog

from core.logs import about
from core.tracing import Noted, span
from tasks_app.keeper.client import KeeperClient
from tasks_app.leases import Lease
from tasks_app.runtime.completing import completion_check
from tasks_app.runtime.driving import calls_drive
from tasks_app.runtime.ending import hand_over, park, task_cancelled
from tasks_app.runtime.session import LeaseLost, Session
from tasks_app.runtime.settled import checkpoint_later, wait_park
from tasks_app.runtime.stepping import step_take
from tasks_app.runtime.view_make import Book
from tasks_app.runtime.waiting import wait_over
from tasks_app.status import Status

log = structlog.get_logger(__name__)

SLICE_SECONDS = 60.0  # a slice hands over after this time, so that no task holds a worker for ever


def slice_run(*, lease: Lease, keeper: KeeperClient, drain: Callable[[], bool]) -> None:
    """Run a claimed task until it ends, parks, is handed over, or is lost. Never raises LeaseLost."""
    try:
        with about(lease.task, epoch=lease.token.epoch), _span(lease):
            session = Session(lease=lease, keeper=keeper, drain=drain)
            book = Book(session)
            while not session.over:
                _turn(session, book)
    except LeaseLost:
        log.warning("slice.fenced", task_id=str(lease.task), epoch=lease.token.epoch)


def _span(lease: Lease) -> AbstractContextManager[Noted]:
    epoch = lease.token.epoch
    return span("slice", task=lease.task, epoch=epoch, worker=lease.holder, took_over=lease.took_over)


def _turn(session: Session, book: Book) -> None:
    """Do the one next thing that the record asks for."""
    if session.lost():
        session.abandon(session.pending.events)
    if session.drain():
        hand_over(session, "handed over")
    elif time.monotonic() - session.started > SLICE_SECONDS:
        hand_over(session, "bound")
    elif session.open:
        drive = calls_drive(session)
        if not drive.moved:
            park(session, until=drive.until, asked=drive.asked, elsewhere=drive.elsewhere, outside=drive.outside)
    elif session.status == Status.CANCELLING:
        task_cancelled(session)
    elif session.status != Status.RUNNING:
        park(session, until=None, asked=False)
    elif checkpoint_later(session, book):
        pass
    elif session.task.claim:
        completion_check(session)
    elif session.task.open_wait:
        if wait_over(session):
            book.waits.forget()
            book.children.forget()
        else:
            wait_park(session)
    else:
        step_take(session, book)
