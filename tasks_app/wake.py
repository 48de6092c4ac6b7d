"""Wake-ups: "look at task T", sent once the change is committed. A hint that may be lost; the sweeper looks too.

Sending must never cost the write that it follows: connections that stay open, no retries, short timeouts, and after a
failure a moment of silence, in which no sender waits for a broker that is known to be away.

Rejected: a connection a thread. A web process serves each request in a thread of its own, and connecting takes longer
than all that a decision does.
"""

import os
import time
from collections import deque
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
MOST_IDLE = 8  # connections that stay open; more only while so many send at once
OPTIONS = {"max_retries": 0, "socket_connect_timeout": PATIENCE, "socket_timeout": PATIENCE}


class BrokerAwayError(Exception):
    """The broker did not answer a moment ago; nothing was sent."""


class Broker:
    """This process's connections for sending: one is lent to each sender and taken back for the next."""

    def __init__(self) -> None:
        self._silent_until = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget what a forked child must not speak on: its parent's connections."""
        self._idle: deque[Connection] = deque()

    def close(self) -> None:
        """Close what is idle, and try again at once: another broker may be meant from now on."""
        self._silent_until = 0.0
        with suppress(IndexError):
            while True:
                _drop(self._idle.pop())

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
        with suppress(IndexError):
            connection = self._idle.pop()
            with suppress(Exception):
                return self._lent(connection, work)
            self.close()  # what else is idle is as old
        return self._lent(_connection_new(), work)

    def _lent[T](self, connection: Connection, work: Callable[[Connection], T]) -> T:
        try:
            answer = work(connection)
        except BaseException:
            _drop(connection)
            raise
        if len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            _drop(connection)
        return answer


def _connection_new() -> Connection:
    return current_app.connection_for_write(transport_options=OPTIONS, connect_timeout=PATIENCE)


def _drop(connection: Connection) -> None:
    with suppress(Exception):
        connection.release()


broker = Broker()
os.register_at_fork(after_in_child=broker.reset)


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
