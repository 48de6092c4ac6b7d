"""The side of the worker's main process: starts the keeper, starts it again, tells it how children ended.

Only the main process uses this, from its own loop; no thread, since a prefork pool forks from here.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress
from uuid import UUID

import structlog
from django.conf import settings

from core.embedded import folder
from tasks_app.keeper import place, protocol
from tasks_app.keeper.client import Seat, seat_take
from tasks_app.keeper.protocol import Message
from tasks_app.leases import WorkerIdentity
from tasks_app.workers import WorkerDescription

log = structlog.get_logger(__name__)

PATIENCE = 0.1  # seconds between two looks whether the keeper still starts


class Link:
    """The keeper of this worker. The socket is bound here and handed on, so that it outlives each keeper."""

    def __init__(self, worker: WorkerDescription) -> None:
        self._worker = worker
        self._listener, self._path = place.listen(folder.sockets(settings.VAR_DIR))
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._draining = False
        identity = WorkerIdentity(
            id=UUID(worker.id), name=worker.name, host=worker.host, pid=worker.pid, code_digest=worker.code_digest
        )
        seat_take(Seat(path=str(self._path), worker=identity))

    @property
    def keeper_pid(self) -> int | None:
        """The keeper's process, if one was started."""
        return self._process.pid if self._process else None

    def keep(self) -> None:
        """Start the keeper if it does not run. Called at the start and a few times a second."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            log.warning("keeper_lost", worker=self._worker.name, code=self._process.returncode)
        self._process = self._start()
        self._connect()

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._listener.fileno()
        told = {"worker": self._worker.as_json(), "listener": descriptor, "socket": str(self._path)}
        command = [sys.executable, "-m", "tasks_app.keeper"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[descriptor])
        assert process.stdin is not None
        with suppress(OSError), process.stdin:  # it died at once: it is started again
            process.stdin.write(json.dumps(told).encode())
        return process

    def _connect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = protocol.connect(str(self._path))  # the backlog holds it until it is taken
        self._connection.setblocking(False)
        self._say({"do": "hello", "role": "main", "pid": os.getpid()})
        if self._draining:
            self._say({"do": "draining"})

    def served(self, seconds: float) -> bool:
        """Wait until the keeper serves. Until then nothing is renewed, and a slice would lose its lease for nothing."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.keep()
            connection = self._connection
            if connection is None or not select.select([connection], [], [], PATIENCE)[0]:
                continue
            if {"do": "serving"} in (protocol.Reader(connection).read() or []):
                return True
        log.warning("keeper_late", worker=self._worker.name, seconds=seconds)
        return False

    def _say(self, message: Message) -> None:
        if self._connection is not None:
            with suppress(OSError):  # the keeper has gone; the next look starts another
                protocol.send(self._connection, message)

    def exited(self, pid: int, status: str) -> None:
        """Tell how a child ended."""
        self._say({"do": "exited", "pid": pid, "status": status})

    def cause(self, task: str, cause: str) -> None:
        """Tell why the child that ran this task is about to be ended."""
        self._say({"do": "cause", "task": task, "cause": cause})

    def drain(self) -> None:
        """Tell every process that runs slices to hand over. May be called from a signal handler."""
        self._draining = True
        self._say({"do": "draining"})


_link: Link | None = None


def link_open(worker: WorkerDescription) -> Link:
    """Bind the socket, start the keeper, and let this worker's slices find it."""
    global _link
    _link = Link(worker)
    _link.keep()
    return _link


def cause_note(*, task: str, cause: str) -> None:
    """Say why a child is about to be ended, where this process has a keeper."""
    if _link is not None:
        _link.cause(task, cause)
