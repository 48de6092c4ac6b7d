"""Cuts what a tool does at its deadline: closes the connections it opened, then interrupts its thread.

A thread that starves with the code it watches is not relied on alone: past the deadline + 1 s the keeper
kills the process. One daemon thread a process serves all calls.
"""

import contextlib
import ctypes
import math
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol


class DeadlinePassed(Exception):
    """The call's deadline has passed while its tool was at work."""


class Closable(Protocol):
    """Anything whose connection can be cut."""

    def close(self) -> object:
        """Cut it."""
        ...


@dataclass(slots=True, eq=False)
class _Guard:
    until: float
    thread: int
    closables: list[Closable] = field(default_factory=list)
    fired: bool = False


QUIET_SECONDS = 1.0
_guards: set[_Guard] = set()
_changed = threading.Condition()
_current = threading.local()
_started = threading.Event()
_asleep_until = 0.0  # when the thread looks again by itself: a later deadline needs no waking


@contextlib.contextmanager
def deadline_guard(until: float) -> Iterator[None]:
    """Interrupt this thread at ``until`` (monotonic clock, seconds) with ``DeadlinePassed``."""
    _ensure_thread()
    guard = _Guard(until=until, thread=threading.get_ident())
    _current.guard = guard
    with _changed:
        _guards.add(guard)
        if until < _asleep_until:
            _changed.notify()
    try:
        yield
    finally:
        _current.guard = None
        with _changed:
            _guards.discard(guard)
            if guard.fired:
                # The interruption may still be on its way: take it back.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(guard.thread), None)


def cut_at_deadline(closable: Closable) -> None:
    """Register a connection of the running call, to be closed at its deadline; a no-op outside a call."""
    guard: _Guard | None = getattr(_current, "guard", None)
    if guard is not None:
        guard.closables.append(closable)


def _ensure_thread() -> None:
    if not _started.is_set():
        with _changed:
            if not _started.is_set():
                threading.Thread(target=_watch, name="watchdog", daemon=True).start()
                _started.set()


def _watch() -> None:
    global _asleep_until
    quiet = False
    with _changed:
        while True:
            now = time.monotonic()
            for guard in [g for g in _guards if g.until <= now and not g.fired]:
                _fire(guard)
            waiting = [g.until for g in _guards if not g.fired]
            # With nothing to watch it looks once more after a second: calls that follow each other need not wake it.
            _asleep_until = min(waiting) if waiting else math.inf if quiet else now + QUIET_SECONDS
            quiet = not waiting
            _changed.wait(timeout=max(_asleep_until - now, 0.0) if _asleep_until < math.inf else None)


def _fire(guard: _Guard) -> None:
    guard.fired = True
    for closable in guard.closables:
        with contextlib.suppress(Exception):
            closable.close()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(guard.thread), ctypes.py_object(DeadlinePassed))


def after_fork() -> None:
    """Forget the parent's thread in a forked child (it does not exist there)."""
    global _asleep_until
    _guards.clear()
    _started.clear()
    _asleep_until = 0.0


os.register_at_fork(after_in_child=after_fork)
