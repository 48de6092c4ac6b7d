"""The keeper's loop: hears what to watch, sees who dies, kills what outlives its deadline. It never waits.

Several slices of one task may be in one list (a lost one and its successor in the same worker): they are told apart
by their nonces.
"""

import math
import os
import selectors
import socket
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from django.conf import settings

from tasks_app.keeper import protocol
from tasks_app.keeper.process import WatchedProcess, peer_pid, stopped
from tasks_app.keeper.protocol import Message
from tasks_app.keeper.renewer import Death, Renewer
from tasks_app.keeper.sandboxes import Sandboxes
from tasks_app.keeper.table import Table, Watched
from tasks_app.keeper.tail import LINES
from tasks_app.losses import GONE, Loss
from tasks_app.workers import WorkerDescription

log = structlog.get_logger(__name__)

TICK = 0.1  # seconds between looks at deadlines and at processes without a pidfd
LINGER = 1.0  # seconds after all is done: a worker may have died before its keeper took the first connection
LAST_WORD = 5.0  # seconds after the last lease has run out in which losses are still tried to be written


@dataclass(eq=False, slots=True)
class Peer:
    """One connection: a process that runs slices, or the worker's main process."""

    connection: socket.socket
    reader: protocol.Reader
    pid: int


@dataclass(slots=True)
class Dying:
    """A dead process whose exit status may still come."""

    until: float
    slices: list[Watched] = field(default_factory=list)
    killed: frozenset[UUID] = field(default_factory=frozenset)
    said: tuple[str, ...] = ()


class Server:
    """Runs until its worker has gone and every loss is written, or can be seen by all since the leases have run out."""

    def __init__(self, *, worker: WorkerDescription, listener: socket.socket) -> None:
        self._worker, self._listener = worker, listener
        self._table, self._lock = Table(), threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._peers: dict[socket.socket, Peer] = {}
        self._processes: dict[int, WatchedProcess] = {}
        self._sandboxes = Sandboxes(self._selector)
        self._main = WatchedProcess(worker.pid)
        self._main_gone = False
        self._until = math.inf
        self._dying: dict[int, Dying] = {}
        self._exits: dict[int, str] = {}
        self._causes: dict[UUID, str] = {}
        self._killed: set[UUID] = set()
        self._logged: dict[int, deque[str]] = {}
        self._draining = False
        self._told: deque[UUID] = deque()
        self._quiet_at = math.inf
        self._wake_read, self._wake_write = os.pipe()
        self.renewer = Renewer(worker=worker, pid=os.getpid(), renewable=self.renewable, on_lost=self._note_lost)

    def renewable(self) -> list[Watched]:
        """Return what may be renewed right now (called by the database thread)."""
        with self._lock:
            halted = {pid for pid in self._table.pids() if stopped(pid)}
            return self._table.renewable(time.monotonic(), halted)

    def _note_lost(self, nonce: UUID) -> None:
        self._told.append(nonce)
        with suppress(BlockingIOError):
            os.write(self._wake_write, b".")

    def run(self) -> None:
        """Serve until there is nothing left to keep. Raises RuntimeError if the thread that renews ends."""
        os.set_blocking(self._wake_write, False)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._tell_lost)
        if self._main.fd is not None:
            self._selector.register(self._main.fd, selectors.EVENT_READ, self._main_ended)
        self._sandboxes.orphans_expect(time.monotonic())
        self.renewer.start()
        while time.monotonic() < min(self._until, self._quiet_at):
            for key, _ in self._selector.select(TICK):
                key.data()
            self._look()
            if not self.renewer.is_alive():
                raise RuntimeError("The thread that renews has ended (see above); another keeper must take our place.")
            if not self._main_gone or self._processes or self._dying or not self.renewer.idle:
                self._quiet_at = time.monotonic() + LINGER

    def _look(self) -> None:
        now = time.monotonic()
        if not self._main_gone and self._main.gone():
            self._main_ended()
        for process in [process for process in self._processes.values() if process.gone()]:
            self._process_ended(process)
        with self._lock:
            overdue = self._table.overdue(now)
        for watched in overdue:
            self._kill(watched)
        self._sandboxes.end_overdue(now)
        self._sandboxes.orphans_look(now)
        for pid in [pid for pid, dying in self._dying.items() if now >= dying.until or pid in self._exits]:
            self._bury(pid)

    # --- processes ---

    def _main_ended(self) -> None:
        self._main_gone = self.renewer.worker_gone = True
        self._quiet_at = time.monotonic() + LINGER
        self._sandboxes.orphans_expect(time.monotonic())
        # A database that stays away longer than a lease (it died with everything else) needs no word from us any more.
        self._until = time.monotonic() + settings.LEASE_SECONDS + LAST_WORD
        if self._main.fd is not None:
            self._selector.unregister(self._main.fd)
        self._main.close()
        # Where the kernel does not end the children with their parent, nobody would hear them any more: end them.
        for pid, process in list(self._processes.items()):
            if pid != self._worker.pid:
                process.kill()

    def _process_watch(self, pid: int) -> None:
        if pid in self._processes or pid in self._dying:
            return
        process = self._processes[pid] = WatchedProcess(pid)
        if process.fd is not None:
            self._selector.register(process.fd, selectors.EVENT_READ, lambda: self._process_ended(process))

    def _process_ended(self, process: WatchedProcess) -> None:
        if self._processes.pop(process.pid, None) is None:
            return
        if process.fd is not None:
            self._selector.unregister(process.fd)
        process.close()
        self._sandboxes.orphans_expect(time.monotonic())
        wait = 0.0 if self._main_gone or process.pid == self._worker.pid else settings.EXIT_STATUS_SECONDS
        # Dying before it is heard: what it said last must not have it watched, and found dead, a second time.
        dying = self._dying[process.pid] = Dying(until=time.monotonic() + wait)
        for peer in [peer for peer in self._peers.values() if peer.pid == process.pid]:
            self._hear(peer)  # what it said before it died: a claim expected, a slice to watch
        self._take_slices(process.pid, dying)

    def _take_slices(self, pid: int, dying: Dying) -> None:
        """Take its slices out of the table, so that they are renewed no more."""
        with self._lock:
            slices = self._table.gone(pid)
        dying.slices += slices
        killed = frozenset(watched.nonce for watched in slices) & self._killed
        dying.killed |= killed
        self._killed -= killed

    def _bury(self, pid: int) -> None:
        dying, status = self._dying.pop(pid), self._exits.pop(pid, None)
        self._take_slices(pid, dying)  # heard meanwhile, from a connection that had waited to be taken
        dying.said = tuple(self._logged.pop(pid, ()))
        deaths = [Death(watched=watched, loss=self._loss(watched, dying, status)) for watched in dying.slices]
        if deaths:
            self.renewer.lose(deaths)

    def _loss(self, watched: Watched, dying: Dying, status: str | None) -> Loss:
        cause = self._causes.pop(watched.task, None)
        if dying.killed and watched.nonce not in dying.killed:  # its process was killed for another task's slice
            return Loss(seen="killed with another task's slice", exit_status=status, counted=False)
        seen = "killed at deadline" if dying.killed else (cause or GONE)
        return Loss(seen=seen, exit_status=status, log_tail=dying.said)

    def _kill(self, watched: Watched) -> None:
        if watched.nonce in self._killed:
            return
        process = self._processes.get(watched.pid)
        if process is not None:
            self._killed.add(watched.nonce)
            log.warning("process_killed_at_deadline", task_id=str(watched.task), epoch=watched.epoch, pid=watched.pid)
            process.kill()

    # --- connections ---

    def _accept(self) -> None:
        with suppress(OSError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            peer = Peer(connection, protocol.Reader(connection), peer_pid(connection) or 0)
            self._peers[connection] = peer
            self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(peer))
            if self._draining:
                self._tell(peer, {"do": "draining"})

    def _hear(self, peer: Peer) -> None:
        if peer.connection not in self._peers:  # heard to its end already, when its process died
            return
        messages = peer.reader.read()
        if messages is None:
            # Proof of nothing: its process, if it has died, is seen by its pidfd.
            self._selector.unregister(peer.connection)
            del self._peers[peer.connection]
            peer.connection.close()
            return
        for message in messages:
            self._take(peer, message)

    def _take(self, peer: Peer, message: Message) -> None:
        match message:
            case {"do": "hello", "pid": int(pid)}:
                peer.pid = peer.pid or pid
                if message.get("role") == "main":
                    self._tell(peer, {"do": "serving"})
                if message.get("role") == "slices":
                    self._process_watch(peer.pid)
            case {"do": "expect" | "watch"}:
                self._watch(peer, message)
            case {"do": "deadline", "nonce": nonce, "until": until}:
                with self._lock:
                    self._table.call_deadline(UUID(nonce), until)
            case {"do": "forget", "nonce": nonce}:
                with self._lock:
                    self._table.forget(UUID(nonce))
            case {"do": "sandbox", "pid": int(pid), "until": float(until)}:
                self._sandboxes.watch(pid, until)
            case {"do": "logged", "line": str(line)}:
                self._logged.setdefault(peer.pid, deque(maxlen=LINES)).append(line)
            case {"do": "exited", "pid": int(pid), "status": str(status)}:
                self._exits[pid] = status
            case {"do": "cause", "task": task, "cause": str(cause)}:
                self._causes[UUID(task)] = cause
            case {"do": "draining"}:
                self._drain()

    def _watch(self, peer: Peer, message: Message) -> None:
        nonce = UUID(message["nonce"])
        self._process_watch(peer.pid)  # known, or dead already: then it is seen as gone at the next look
        with self._lock:
            before = self._table.find(nonce)
            watched = Watched(
                task=UUID(message["task"]),
                nonce=nonce,
                pid=peer.pid,
                epoch=message.get("epoch"),
                slice_until=message.get("until"),
                call_until=before.call_until if before else None,
            )
            self._table.put(watched)
        if watched.epoch is not None and before is None:
            self.renewer.soon()  # it comes back after a keeper was lost; its lease may be near its end

    def _tell_lost(self) -> None:
        os.read(self._wake_read, 4096)
        while self._told:
            nonce = self._told.popleft()
            with self._lock:
                watched = self._table.find(nonce)
                self._table.forget(nonce)
            for peer in [peer for peer in self._peers.values() if watched and peer.pid == watched.pid]:
                self._tell(peer, {"do": "lost", "nonce": str(nonce)})

    def _drain(self) -> None:
        self._draining = self.renewer.draining = True
        self.renewer.soon()  # its row says so before it is gone: who ends is no loss
        for peer in list(self._peers.values()):
            self._tell(peer, {"do": "draining"})

    def _tell(self, peer: Peer, message: Message) -> None:
        with suppress(OSError):  # it has gone, or reads nothing any more: it will hear the rest from Postgres
            protocol.send(peer.connection, message)
