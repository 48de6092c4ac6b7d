"""Wake-ups: "look at task T", sent once the change is committed. A hint that may be lost; the sweeper looks too.

Sending must never cost the write that it follows: one connection a thread, no retries, short timeouts, and after a
failure a moment of silence, in which no sender waits for a broker that is known to be away.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import structlog
from celery import current_app
from kombu import Connection

from core.boundaries import Boundary, Position, cross
from core.hints import after_commit

log = structlog.get_logger(__name__)

TASK, RECHECK, LOOK_UP = "tasks_app.slice", "tasks_app.recheck", "tasks_app.look_up"
PATIENCE = 1.0  # seconds for connecting, and for an answer
SILENCE = 1.0  # seconds without a try after a failure
OPTIONS = {"max_retries": 0, "socket_connect_timeout": PATIENCE, "socket_timeout": PATIENCE}


class BrokerAwayError(Exception):
    """The broker did not answer a moment ago; nothing was sent."""


class Broker:
    """This thread's connection for sending."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._silent_until = 0.0

    def use[T](self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` with a connection; once more with a new one where an old one broke (a broker that restarted).

        Raises BrokerAwayError at once while the broker is known to be away, else what the transport raises.
        """
        if time.monotonic() < self._silent_until:
            raise BrokerAwayError
        try:
            return self._try(work)
        except Exception:
            self._silent_until = time.monotonic() + SILENCE
            raise

    def _try[T](self, work: Callable[[Connection], T]) -> T:
        connection, fresh = self._connection()
        try:
            return work(connection)
        except Exception:
            self._drop()
            if fresh:
                raise
        try:
            return work(self._connection()[0])
        except Exception:
            self._drop()
            raise

    def _connection(self) -> tuple[Connection, bool]:
        # A forked child must not speak on its parent's connection.
        if getattr(self._mine, "pid", None) == os.getpid():
            return self._mine.connection, False
        self._mine.connection = current_app.connection_for_write(transport_options=OPTIONS, connect_timeout=PATIENCE)
        self._mine.pid = os.getpid()
        return self._mine.connection, True

    def _drop(self) -> None:
        with suppress(Exception):
            self._mine.connection.release()
        self._mine.pid = None


broker = Broker()


def wake(task_id: UUID) -> None:
    """Ask a worker to look at the task once the current transaction is committed (B02)."""
    after_commit(lambda: _wake_after_commit(task_id))


def _wake_after_commit(task_id: UUID) -> None:
    cross(Boundary.WAKE_UP, Position.BEFORE, task=task_id)
    wake_now(task_id)


def wake_now(task_id: UUID) -> bool:
    """Send the message now; False, and a line in the log, if it could not be sent."""
    return send_now(TASK, str(task_id))


def send_now(name: str, *arguments: str) -> bool:
    """Send one message to the workers; False, and a line in the log, if it could not be sent."""
    try:
        broker.use(lambda connection: _publish(connection, name, arguments))
    except BrokerAwayError:
        return False
    except Exception as error:  # whatever the transport raises: a lost hint is harmless
        log.warning("wake_up_lost", message=name, task_id=arguments[0], error=type(error).__name__)
        return False
    return True


def _publish(connection: Connection, name: str, arguments: tuple[str, ...]) -> None:
    options: dict[str, Any] = {"connection": connection, "retry": False, "ignore_result": True}
    current_app.send_task(name, args=arguments, **options)


def wake_ups_waiting() -> int | None:
    """Count the messages that no worker has taken yet; None if the broker cannot say."""
    name = current_app.conf.task_default_queue
    try:
        return broker.use(lambda connection: _depth(connection, name))
    except Exception:  # away: nothing can be sent either
        return None


def _depth(connection: Connection, name: str) -> int:
    channel: Any = connection.channel()  # of its own: a broker may close it with its refusal
    try:
        return int(channel.queue_declare(queue=name, passive=True).message_count)
    except connection.channel_errors:  # there is no such queue: nothing was ever sent, or the broker was emptied
        return 0
    finally:
        with suppress(Exception):
            channel.close()
