"""Cuts what a tool does at its deadline: closes the connections it opened, then interrupts its thread.

A thread that starves with the code it watches is not relied on alone: past the deadline + 1 s the keeper
kills the process. One daemon thread a process serves all calls.

The interruption arrives anywhere in the interrupted thread, also in what leaves the guard. So no lock is taken there:
one that was taken as it arrived stayed taken, and from then on no call of that process was cut. What the threads share
are single steps of the interpreter: an attribute, a member of a set, a byte in a pipe.
"""

import contextlib
import ctypes
import itertools
import math
import os
import select
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
    """``left``: its thread wants no interruption any more. ``fired``: one is on its way, until it is ``over``."""

    until: float
    thread: int
    closables: list[Closable] = field(default_factory=list)
    left: bool = False
    fired: bool = False
    over: bool = False


class _Watch:
    """What the threads of this process share with its watchdog."""

    def __init__(self) -> None:
        self.guards: set[_Guard] = set()
        self.begun = itertools.count()
        self.pipe: tuple[int, int] | None = None
        self.asleep_until = math.inf  # when it looks again by itself: a later deadline needs no waking


QUIET_SECONDS = 1.0
STEP = 0.0005  # seconds between two looks at an interruption that is on its way
_here = _Watch()
_current = threading.local()


@contextlib.contextmanager
def deadline_guard(until: float) -> Iterator[None]:
    """Interrupt this thread at ``until`` (monotonic clock, seconds) with ``DeadlinePassed``."""
    _ensure_thread()
    guard = _Guard(until=until, thread=threading.get_ident())
    _current.guard = guard
    _here.guards.add(guard)
    if until < _here.asleep_until:
        _wake()
    try:
        yield
    finally:
        guard.left = True
        _here.guards.discard(guard)
        _current.guard = None
        while guard.fired and not guard.over:
            time.sleep(STEP)
        if guard.fired:
            # The interruption may still be on its way: take it back.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(guard.thread), None)


def cut_at_deadline(closable: Closable) -> None:
    """Register a connection of the running call, to be closed at its deadline; a no-op outside a call."""
    guard: _Guard | None = getattr(_current, "guard", None)
    if guard is not None:
        guard.closables.append(closable)


def _ensure_thread() -> None:
    if _here.pipe is None and next(_here.begun) == 0:
        try:
            ends = os.pipe()
        except OSError:  # no descriptor is left: the next call tries again
            _here.begun = itertools.count()
            raise
        for end in ends:
            os.set_blocking(end, False)
        _here.pipe = ends
        threading.Thread(target=_watch, args=[ends[0]], name="watchdog", daemon=True).start()


def _wake() -> None:
    ends = _here.pipe
    if ends is not None:  # else it has not looked at all yet
        with contextlib.suppress(BlockingIOError):  # it is full of wakings
            os.write(ends[1], b".")


def _watch(ears: int) -> None:
    quiet = False
    waker = select.poll()  # select takes no descriptor above 1023
    waker.register(ears, select.POLLIN)
    while True:
        _here.asleep_until = math.inf  # whoever comes while we look wakes us
        now = time.monotonic()
        for guard in [guard for guard in tuple(_here.guards) if guard.until <= now]:
            _fire(guard)
        waiting = [guard.until for guard in tuple(_here.guards)]
        # With nothing to watch it looks once more after a second: calls that follow each other need not wake it.
        until = min(waiting) if waiting else math.inf if quiet else now + QUIET_SECONDS
        quiet = not waiting
        _here.asleep_until = until
        waker.poll(max(until - time.monotonic(), 0.0) * 1000 if until < math.inf else None)
        with contextlib.suppress(BlockingIOError):
            os.read(ears, 65536)


def _fire(guard: _Guard) -> None:
    guard.fired = True
    _here.guards.discard(guard)
    for closable in guard.closables:
        with contextlib.suppress(Exception):
            closable.close()
    if not guard.left:  # it has left, or sees that an interruption is on its way and waits for it
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(guard.thread), ctypes.py_object(DeadlinePassed))
    guard.over = True


def after_fork() -> None:
    """Forget the parent's thread in a forked child (it does not exist there)."""
    global _here
    for end in _here.pipe or ():
        os.close(end)
    _here = _Watch()


os.register_at_fork(after_in_child=after_fork)
