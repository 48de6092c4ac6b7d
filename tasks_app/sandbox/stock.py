"""Sandboxes that were started before anybody needs them: each is used for one call and thrown away.

One that waits is as narrow as one at work, and has nothing of any call in it: no arguments, no credentials, no way
out, and no code of a tool. It is handed a call only if its walls are exactly those that the call's contract wants;
otherwise one is started cold.
"""

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from tasks_app.sandbox.spec import Frame
from tasks_app.sandbox.starting import GONE, Running, sandbox_start

log = structlog.get_logger(__name__)

# Loaded while it waits: what nearly every tool imports. Ours and installed libraries alone.
COMMON = (
    "tasks_app.contracts",
    "tasks_app.registry",
    "tasks_app.criteria",
    "tasks_app.decisions",
    "tasks_app.view",
    "tasks_app.artifacts",
    "tasks_app.sandbox.held",
)
# Where there is a network, as well: half as much again to load.
REACHING = ("tasks_app.outside", "httpcore")
IDLE = 60.0  # seconds for which one waits at most
CLOSE = 20.0  # seconds in which all that wait have ended: a start may be under way
SLACK = 5.0  # seconds after which its keeper ends one that its worker has not
MOST = 4  # that wait at once in one process, of all kinds of walls together

Kind = tuple[Frame, str]
Watch = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class _Waiting:
    kind: Kind
    running: Running
    until: float


class Stock:
    """Up to ``size`` sandboxes of each kind of walls that was asked for lately. ``watch`` tells a keeper of each."""

    def __init__(self, size: int, watch: Watch) -> None:
        self._size, self._watch = size, watch
        self.handed = 0  # how many were given a call
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._wanted: queue.SimpleQueue[Kind | None] = queue.SimpleQueue()
        # One thread for all: the kernel ends a sandbox with the thread that has started it.
        self._thread = threading.Thread(target=self._keep, name="sandbox-stock", daemon=True)
        self._thread.start()

    def take(self, frame: Frame, level: str) -> Running | None:
        """Return one that waits behind such walls, now the caller's alone, or None; another is started meanwhile.

        Where there is none, the caller starts its own first and wants one for the next call then: of two that load
        side by side, both take longer.
        """
        found = self._taken((frame, level))
        if found is not None:
            self.want(frame, level)
            self.handed += 1
            found.used_before = found.used()[0]
        return found

    def want(self, frame: Frame, level: str) -> None:
        """Have one started behind such walls, if as many as are kept do not wait yet."""
        self._wanted.put((frame, level))

    def _taken(self, kind: Kind) -> Running | None:
        while True:
            with self._lock:
                mine = next((one for one in self._waiting if one.kind == kind), None)
                if mine is None:
                    return None
                self._waiting.remove(mine)
            if not mine.running.ended_within(0.0):
                return mine.running
            _end(mine.running)

    def waiting(self) -> list[int]:
        """Return the first process of each that waits."""
        with self._lock:
            return [one.running.first for one in self._waiting]

    def kinds(self) -> list[Kind]:
        """Return behind which walls they wait."""
        with self._lock:
            return [one.kind for one in self._waiting]

    def close(self) -> None:
        """End all that wait, and start no more; what takes longer than ``CLOSE`` ends with its thread."""
        self._wanted.put(None)
        self._thread.join(CLOSE)

    def _keep(self) -> None:
        while True:
            kind: Kind | None
            try:
                kind = self._wanted.get(timeout=self._next())
            except queue.Empty:
                self._retire(lambda one: one.until <= time.monotonic())
                continue
            if kind is None:
                return self._retire(lambda one: True)
            self._fill(kind)

    def _next(self) -> float | None:
        with self._lock:
            first = min((one.until for one in self._waiting), default=None)
        return None if first is None else max(first - time.monotonic(), 0.0)

    def _fill(self, kind: Kind) -> None:
        """Start what is missing of a kind; of the others the oldest make room."""
        while sum(one.kind == kind for one in self._waiting) < self._size:
            try:
                running = sandbox_start(*kind, common=COMMON + (REACHING if kind[0].network else ()))
            except OSError as error:
                log.warning("sandbox_stock_not_started", error=str(error))
                return
            until = time.monotonic() + IDLE
            self._watch(running.first, until + SLACK)
            with self._lock:
                self._waiting.append(_Waiting(kind, running, until))
                surplus = self._waiting[: max(len(self._waiting) - MOST, 0)]
            self._retire(lambda one, surplus=surplus: one in surplus)  # type: ignore[misc]

    def _retire(self, which: Callable[[_Waiting], bool]) -> None:
        with self._lock:
            over = [one for one in self._waiting if which(one)]
            self._waiting = [one for one in self._waiting if one not in over]
        for one in over:
            _end(one.running)


def _end(running: Running) -> None:
    """End one that was never used."""
    running.kill()
    with suppress(OSError, subprocess.TimeoutExpired):
        running.process.wait(GONE)
    running.remove()


_making = threading.Lock()
_stock: tuple[int, Stock | None] | None = None
_size: tuple[int, Watch] = (0, lambda pid, until: None)


def stock_use(size: int, watch: Watch) -> None:
    """Let this process, and those that it forks, keep so many of each kind (0: none)."""
    global _size
    _size = (size, watch)


def stock_here() -> Stock | None:
    """Return the stock of this process, made at its first call; None where none is kept."""
    global _stock
    with _making:
        if _stock is None or _stock[0] != os.getpid():
            _stock = (os.getpid(), Stock(*_size) if _size[0] else None)
        return _stock[1]
