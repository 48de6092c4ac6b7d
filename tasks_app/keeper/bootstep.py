"""Celery's worker with a keeper: what its main process does besides Celery's own work.

It starts the keeper before the pool forks, starts it again when it dies, and tells it how children ended.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from celery import bootsteps, signals
from celery.worker.consumer import Consumer as CeleryConsumer
from celery.worker.state import active_requests, reserved_requests
from django.conf import settings

from core.code import code_digest
from core.metrics import metrics_begin_shared
from core.tracing import tracing_begin
from tasks_app import registry
from tasks_app.credentials.known import credentials_follow, credentials_unlogged
from tasks_app.keeper.asked_to_end import heed
from tasks_app.keeper.client import sandbox_watch
from tasks_app.keeper.link import Link, link_open
from tasks_app.keeper.process import status_text
from tasks_app.keeper.tail import tail_begin
from tasks_app.keeper.tied import tie, tied_to
from tasks_app.keeper.warm import load_before_forks, warm_up
from tasks_app.sandbox.levels import sandbox_level_say
from tasks_app.sandbox.stock import stock_use
from tasks_app.workers import WorkerDescription, carries_now

EVERY = 0.1  # seconds between two looks
SERVED_WITHIN = 60.0  # seconds that a starting worker waits for its keeper before it takes work all the same
RETRY_START, RETRY_STEP, RETRY_MOST = 0.2, 0.3, 1.0  # seconds between tries while the broker is away


class KeeperStep(bootsteps.StartStopStep):
    """The keeper of this worker, and the word on how its children end."""

    requires = ("celery.worker.components:Pool", "celery.worker.components:Timer")
    here: "KeeperStep | None" = None

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        metrics_begin_shared()
        tracing_begin("worker")
        registry.modules_load()  # user code that cannot be imported ends the worker here, with its name
        load_before_forks()
        sandbox_level_say()
        stock_use(settings.HANDRAIL_SANDBOX_STOCK, sandbox_watch)
        self._worker = worker
        self._told: set[int] = set()
        self._link = link_open(_describe(worker))
        tied_to(os.getpid())
        for begin in (tie, heed, tail_begin, credentials_unlogged, warm_up):
            signals.worker_process_init.connect(begin, weak=False)
        KeeperStep.here = self
        super().__init__(worker, **kwargs)

    def start(self, worker: Any) -> None:
        """Wait for the keeper; begin to look, where no event loop will call us; hear of a shutdown."""
        self._link.served(SERVED_WITHIN)  # on a busy machine it starts later than the pool
        self.look()  # before the first task comes: a child that dies at once is told of like any other
        signals.worker_shutting_down.connect(self._drain, weak=False)
        if _pool(worker) != "prefork":  # slices run in this process
            tail_begin()
            credentials_unlogged()
            credentials_follow()
        if worker.hub is None:
            worker.timer.call_repeatedly(EVERY, self.look)

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Begin to look, each time the loop starts: its timers end when the broker is lost."""
        hub.call_repeatedly(EVERY, self.look)

    def look(self) -> None:
        """Look after the keeper, and tell it which children have ended, just before the pool forgets them.

        Also while the broker is away: the pool then looks after nobody.
        """
        self._link.keep()
        pool: Any = getattr(self._worker.pool, "_pool", None)
        if hasattr(pool, "_join_exited_workers"):
            if not isinstance(pool._join_exited_workers, _ToldBefore):
                pool._join_exited_workers = _ToldBefore(pool._join_exited_workers, lambda: self._tell_exits(pool))
            self._tell_exits(pool)

    def _tell_exits(self, pool: Any) -> None:
        dead = {process.pid: process.exitcode for process in pool._pool if process.exitcode is not None}
        for pid in dead.keys() - self._told:
            self._link.exited(pid, status_text(dead[pid]))
        self._told = set(dead)

    def _drain(self, **_: Any) -> None:
        """Tell the slices to hand over. Celery's loop stands still from now on, so a thread looks after the keeper."""
        self._link.drain()
        threading.Thread(target=_keep_on, args=[self._link], daemon=True).start()


class _ToldBefore:
    """The pool's own clearing away of children that have ended, with word of them first: only their parent knows how.

    Not the pool's ``on_process_down``: the loop sets that anew each time it starts, and it comes after much else.
    """

    def __init__(self, clear: Callable[..., list[int]], tell: Callable[[], None]) -> None:
        self._clear, self._tell = clear, tell

    def __call__(self, *args: Any, **kwargs: Any) -> list[int]:
        self._tell()
        return self._clear(*args, **kwargs)


def _keep_on(link: Link) -> None:
    while True:
        link.keep()
        time.sleep(EVERY)


def _pool(worker: Any) -> str:
    """Return the name of a worker's kind of pool."""
    return str(worker.pool_cls.__module__.rpartition(".")[2])


def _describe(worker: Any) -> WorkerDescription:
    return WorkerDescription(
        id=str(uuid4()),
        name=worker.hostname,
        host=socket.gethostname(),
        pid=os.getpid(),
        pool=_pool(worker),
        code_digest=code_digest(),
        carries=carries_now(),
    )


class Consumer(CeleryConsumer):
    """Celery's consumer, which outlives its broker and comes back within a second of it."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Forget what was delivered and not acknowledged: they were hints.

        Celery would put them back now, or acknowledge them later, through the connection that is gone; the transport
        answers with an error that ends the worker.
        """
        for request in [*active_requests, *reserved_requests]:
            request.acknowledged = True
        for channel in list(getattr(getattr(self.connection, "transport", None), "channels", None) or ()):
            channel.do_restore = False
        super().on_connection_error_after_connected(exc)

    def ensure_connected(self, conn: Any) -> Any:
        """Try often, and look after the keeper meanwhile: Celery's loop stands still while it waits."""
        patient = conn.ensure_connection

        def ensure(errback: Any, max_retries: Any, callback: Callable[[], None]) -> Any:
            def between() -> None:
                callback()
                if KeeperStep.here is not None:
                    KeeperStep.here.look()

            return patient(
                errback,
                max_retries,
                callback=between,
                interval_start=RETRY_START,
                interval_step=RETRY_STEP,
                interval_max=RETRY_MOST,
            )

        conn.ensure_connection = ensure
        return super().ensure_connected(conn)
