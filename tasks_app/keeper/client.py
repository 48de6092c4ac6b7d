"""The side of the slices: tells the keeper what to watch, hears what was lost.

One client a process, made at its first slice (after a fork). It keeps its own list and says all of it again whenever
it reconnects, so that a keeper that was killed and replaced knows everything. A keeper that is away costs nothing
before a lease has run out.
"""

import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tasks_app.keeper import protocol
from tasks_app.keeper.protocol import Message
from tasks_app.leases import Lease, WorkerIdentity
from tasks_app.sandbox.orphans import began

RECONNECT = 0.05  # seconds between two tries


class KeeperClient(Protocol):
    """What the executor asks of a keeper."""

    def watch(self, lease: Lease, *, slice_deadline: float) -> None:
        """Renew this lease until ``slice_deadline`` (CLOCK_MONOTONIC seconds); past it + 1 s, kill this process."""

    def deadline(self, lease: Lease, until: float | None) -> None:
        """Set the open call's deadline; past it nothing is renewed, past it + 1 s this process is killed."""

    def forget(self, lease: Lease) -> None:
        """The slice has ended by itself."""

    def lost(self, lease: Lease) -> bool:
        """Whether a renewal changed 0 rows: the token is not ours any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where this worker's keeper listens, and who the worker is; fixed before the pool forks."""

    path: str
    worker: WorkerIdentity


class Client:
    """The keeper's client of one process; its methods may be called from any thread and never block for long."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._said: dict[str, dict[str, Message]] = {}  # nonce -> what must be said again after a reconnect
        self._sandboxes: dict[int, tuple[float, str]] = {}  # first process -> until when it may run, when it began
        self._lost: set[str] = set()
        self._draining = False
        threading.Thread(target=self._listen, name="keeper-client", daemon=True).start()

    def identity(self) -> WorkerIdentity:
        """Return who claims: this worker, with the process that runs its slices."""
        worker = self._seat.worker
        return WorkerIdentity(
            id=worker.id, name=worker.name, host=worker.host, pid=os.getpid(), code_digest=worker.code_digest
        )

    def expect(self, task: UUID, nonce: UUID) -> None:
        """A claim under this nonce is about to be made: should this process die now, look whether it was."""
        self._say(str(nonce), {"do": "expect", "task": str(task), "nonce": str(nonce)})

    def settle(self, nonce: UUID) -> None:
        """Nothing was claimed under this nonce."""
        self._unsay(str(nonce), {"do": "forget", "nonce": str(nonce)})

    def watch(self, lease: Lease, *, slice_deadline: float) -> None:
        """See KeeperClient."""
        nonce, token = str(lease.token.nonce), lease.token
        message = {"do": "watch", "task": str(lease.task), "nonce": nonce, "epoch": token.epoch}
        self._say(nonce, message | {"until": slice_deadline})

    def deadline(self, lease: Lease, until: float | None) -> None:
        """See KeeperClient."""
        nonce = str(lease.token.nonce)
        self._say(nonce, {"do": "deadline", "nonce": nonce, "until": until})

    def forget(self, lease: Lease) -> None:
        """See KeeperClient."""
        nonce = str(lease.token.nonce)
        self._unsay(nonce, {"do": "forget", "nonce": nonce})
        self._lost.discard(nonce)

    def lost(self, lease: Lease) -> bool:
        """See KeeperClient."""
        return str(lease.token.nonce) in self._lost

    def draining(self) -> bool:
        """Whether the worker is shutting down: hand over calmly."""
        return self._draining

    def sandbox(self, pid: int, until: float) -> None:
        """Have a sandbox's first process killed at ``until`` (CLOCK_MONOTONIC seconds), even if we are stopped."""
        with self._lock:
            self._sandboxes = {one: kept for one, kept in self._sandboxes.items() if kept[0] > time.monotonic()}
            self._sandboxes[pid] = (until, began(pid))
            self._send({"do": "sandbox", "pid": pid, "until": until})

    def note(self, line: str) -> None:
        """Tell what this process has just logged: its keeper keeps the last lines, in case it dies now."""
        # Not waiting for the lock: whoever holds it may be the one who logs.
        if self._lock.acquire(blocking=False):
            try:
                if self._connection is not None:
                    self._sent({"do": "logged", "line": line})
            finally:
                self._lock.release()

    def _say(self, nonce: str, message: Message) -> None:
        with self._lock:
            said = self._said.setdefault(nonce, {})
            if message["do"] == "watch":
                said.pop("expect", None)
            said[message["do"]] = message
            self._send(message)

    def _unsay(self, nonce: str, message: Message) -> None:
        with self._lock:
            self._said.pop(nonce, None)
            self._send(message)

    def _send(self, message: Message) -> None:
        if self._connection is None:
            self._connect()  # says everything in the list, this message as well
        elif not self._sent(message):
            self._connect()

    def _sent(self, *messages: Message) -> bool:
        try:
            protocol.send(self._connection, *messages)  # type: ignore[arg-type]
        except OSError:
            self._hang_up()
            return False
        return True

    def _connect(self) -> None:
        try:
            self._connection = protocol.connect(self._seat.path)
        except OSError:
            return  # the listening thread goes on trying
        everything = [message for said in self._said.values() for message in said.values()]
        for pid, (until, when) in self._sandboxes.items():
            if when and began(pid) == when:  # it still runs, and its number means no other
                everything.append({"do": "sandbox", "pid": pid, "until": until})
        self._sent({"do": "hello", "role": "slices", "pid": os.getpid()}, *everything)

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._connection = None

    def _listen(self) -> None:
        while True:
            with self._lock:
                if self._connection is None:
                    self._connect()
                connection = self._connection
            if connection is None:
                time.sleep(RECONNECT)
                continue
            self._hear(connection)
            with self._lock:
                if self._connection is connection:
                    self._hang_up()

    def _hear(self, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.settimeout(None)
        reader = protocol.Reader(connection)
        while (messages := reader.read()) is not None:
            for message in messages:
                self._take(message)

    def _take(self, message: Message) -> None:
        if message["do"] == "draining":
            self._draining = True
        elif message["do"] == "lost" and message["nonce"] in self._said:
            self._lost.add(message["nonce"])


_seat: Seat | None = None
_client: tuple[int, Client] | None = None
_making = threading.Lock()


def seat_take(seat: Seat) -> None:
    """Fix where the keeper of this worker listens (its main process, before the pool forks)."""
    global _seat
    _seat = seat


def client_here() -> Client:
    """Return the client of this process, made at its first slice. Raises RuntimeError outside of a worker."""
    global _client
    if _seat is None:
        raise RuntimeError("Slices run in a Celery worker, whose main process starts a keeper first.")
    with _making:
        if _client is None or _client[0] != os.getpid():
            _client = (os.getpid(), Client(_seat))
        return _client[1]


def draining_here() -> bool:
    """Whether this process has heard that its worker shuts down."""
    return _client is not None and _client[0] == os.getpid() and _client[1].draining()


def sandbox_watch(pid: int, until: float) -> None:
    """Tell this process's keeper, where it has one, to end a sandbox at its deadline."""
    if _client is not None and _client[0] == os.getpid():
        _client[1].sandbox(pid, until)
