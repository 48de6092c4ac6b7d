"""The keeper's database thread: renews each second, declares losses at once, keeps the worker's row fresh.

The loop never waits for the database, so that deadlines are kept while it is away. A database that is away proves
nothing about anybody: nothing is declared lost for it, and after its return all is renewed before anything else.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import Error, connection

from core.database_trouble import database_away, database_trouble
from tasks_app.keeper.table import Watched
from tasks_app.leases import Renewal, lease_renew
from tasks_app.losses import Loss, lease_lose
from tasks_app.record.append import Token
from tasks_app.wake import wake_ups_waiting
from tasks_app.workers import WorkerDescription, worker_seen

log = structlog.get_logger(__name__)

EVERY = 1.0  # seconds between renewals
AGAIN = 0.2  # seconds until the next try while the database is away, or while a row was busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A slice whose process has died, with how that was seen."""

    watched: Watched
    loss: Loss


class Renewer(threading.Thread):
    """Works through deaths first, then renewals.

    ``renewable`` gives what may be renewed at this moment; ``on_lost`` hears of tokens that are not ours any more.
    """

    def __init__(
        self,
        *,
        worker: WorkerDescription,
        pid: int,
        renewable: Callable[[], Sequence[Watched]],
        on_lost: Callable[[UUID], None],
    ) -> None:
        super().__init__(name="renewer", daemon=True)
        self.draining = False
        self.worker_gone = False  # its row then grows old
        self._worker, self._pid = worker, pid
        self._renewable, self._on_lost = renewable, on_lost
        self._deaths: deque[Death] = deque()
        self._failed: deque[Death] = deque()  # could not be declared; tried again after the next renewal
        self._work = threading.Condition()
        self._next = 0.0
        self._away = False

    def lose(self, deaths: Sequence[Death]) -> None:
        """Declare these slices lost as soon as the database can be reached."""
        with self._work:
            self._deaths.extend(deaths)
            self._work.notify()

    def soon(self) -> None:
        """Renew now instead of at the next second (slices that have just come back)."""
        with self._work:
            self._next = 0.0
            self._work.notify()

    @property
    def idle(self) -> bool:
        """Whether every death has been written down."""
        return not self._deaths and not self._failed

    def run(self) -> None:
        """Serve until the process ends."""
        wake_ups_waiting()  # connects to the broker now: a first takeover must not wait for that
        while True:
            with self._work:
                self._work.wait_for(self._due, timeout=max(0.0, self._next - time.monotonic()))
            self.step()

    def _due(self) -> bool:
        return (bool(self._deaths) and not self._away) or time.monotonic() >= self._next

    def step(self) -> None:
        """Do what is due once; a database that is away is tried again soon."""
        try:
            self._declare()
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + (AGAIN if self._renew() else EVERY)
                if not self.worker_gone:
                    worker_seen(worker=self._worker, keeper_pid=self._pid, draining=self.draining)
                while self._failed:
                    self._deaths.append(self._failed[0])
                    self._failed.popleft()
            self._away = False
        except Error as error:
            if not self._away:
                reason = database_trouble(error) or type(error).__name__
                log.warning("keeper_database_away", worker=self._worker.name, reason=reason)
            self._away = True
            self._next = time.monotonic() + AGAIN
            connection.close()

    def _declare(self) -> None:
        while self._deaths:
            death = self._deaths[0]
            try:
                self._lose(death)
            except Exception as error:
                if database_away(error):
                    raise
                # Of this task alone: neither the other deaths nor the leases of the worker wait for it.
                log.exception("loss_not_declared", task_id=str(death.watched.task))
                self._failed.append(death)
            self._deaths.popleft()

    def _lose(self, death: Death) -> None:
        watched, actor = death.watched, f"keeper:{self._worker.name}"
        if lease_lose(task=watched.task, nonce=watched.nonce, loss=death.loss, actor=actor):
            log.info("slice_lost", task_id=str(watched.task), epoch=watched.epoch, seen=death.loss.seen)

    def _renew(self) -> bool:
        """Renew all; True if a row was busy."""
        leases = [(w.task, Token(epoch=w.epoch, nonce=w.nonce)) for w in self._renewable() if w.epoch is not None]
        answers = lease_renew(leases=leases) if leases else {}
        for nonce, answer in answers.items():
            if answer is Renewal.LOST:
                self._on_lost(nonce)
        return Renewal.BUSY in answers.values()
