"""The sweeper's duty: watch, plan, hand what is due to a few threads, since a slow receiver must hold up nothing.

Each lane (a channel, or all that mail) has at most one thread: one that hangs holds up itself and no other.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from uuid import UUID

import structlog
from django.db import connections

from approvals_app.notify.services.alerts import alerts_watch
from approvals_app.notify.services.plan import deliveries_plan, follow_ups_plan
from approvals_app.notify.services.pulse import pulse_claim, pulse_send
from approvals_app.notify.services.send import delivery_send, lanes_due

log = structlog.get_logger(__name__)
AT_ONCE = 8  # lanes
IN_A_ROW = 16  # deliveries of one lane
SLOW = 5.0  # seconds after which a lane gives its thread back
PULSE = "pulse"  # beside them: it waits for none
_mine: set[str] = set()  # what this process's threads have in hand
_lock = threading.Lock()


def notify_duty() -> int:
    """Do what is due (one of the sweeper's finders); returns how many deliveries were handed over."""
    handed = notify_without_pulse()
    if pulse_claim():
        _hand_over(PULSE, pulse_send)
    return handed


def notify_without_pulse() -> int:
    """The same, for a process that stands in while no sweeper lives: it must not say that all is well."""
    alerts_watch()
    deliveries_plan()
    follow_ups_plan()
    due = lanes_due(most=IN_A_ROW)
    return sum(len(row) for lane, row in due.items() if _hand_over(lane, partial(_send, row)))


def _send(row: Sequence[UUID]) -> None:
    began = time.monotonic()
    for delivery in row:
        delivery_send(delivery=delivery)
        if time.monotonic() - began > SLOW:
            return


def _hand_over(what: str, work: Callable[[], object]) -> bool:
    with _lock:
        if what in _mine or (what != PULSE and len(_mine - {PULSE}) >= AT_ONCE):
            return False
        _mine.add(what)
    _threads().submit(_work, what, work)
    return True


def _work(what: str, work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:  # the database went away: the claim runs out, and it is tried again
        log.warning("delivery_put_off", error=type(error).__name__)
    finally:
        connections.close_all()
        with _lock:
            _mine.discard(what)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE + 1, thread_name_prefix="notify")
