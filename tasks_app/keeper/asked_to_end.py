"""A pool process that is asked to end (SIGTERM) together with its worker hands its slice over first.

Service managers send the signal to every process of a worker at once. Where a child died of it at once, its death would
be a proven loss, though nothing went wrong. Asked alone (Celery's hard time limit is one who asks), it ends as before.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tasks_app.keeper.client import draining_here

GRACE = 1.0  # seconds in which the worker must have said that all of it ends
AFTER = 0.1  # seconds after its slice in which what the slice said last is still sent


class _Here:
    """This process: whether it belongs to a pool, was asked to end, runs a slice; and who took the signal before us."""

    pid = 0
    ending = False
    busy = False
    before: Callable[[int, FrameType | None], Any] | int | None = None


def heed(**_: object) -> None:
    """Begin, in a process of a pool: its first slice takes the signal over, since the pool sets its own after this."""
    _Here.pid, _Here.ending, _Here.busy = os.getpid(), False, False


def ending() -> bool:
    """Whether this process was asked to end: it takes no further slice."""
    return _Here.ending


@contextmanager
def busy() -> Iterator[None]:
    """Hold while a slice runs, from before its claim."""
    if _Here.pid == os.getpid() and signal.getsignal(signal.SIGTERM) is not _asked:
        _Here.before = signal.signal(signal.SIGTERM, _asked)
    _Here.busy = True
    try:
        yield
    finally:
        _Here.busy = False
        if _Here.ending:
            threading.Timer(AFTER, os.kill, (os.getpid(), signal.SIGTERM)).start()


def _asked(number: int, frame: FrameType | None) -> None:
    """Go on for a moment: if the worker drains, the slice hands over. Asked again, or idle, end as the pool would."""
    if not _Here.ending and _Here.busy:
        _Here.ending = True
        threading.Timer(GRACE, _end_unless_draining).start()
    elif callable(_Here.before):
        _Here.before(number, frame)
    else:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _end_unless_draining() -> None:
    if not draining_here():
        os.kill(os.getpid(), signal.SIGTERM)
