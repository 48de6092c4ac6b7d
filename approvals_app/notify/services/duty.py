"""The sweeper's duty: watch, plan, hand what is due to a few threads, since a slow receiver must hold up nothing."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from uuid import UUID

import structlog
from django.db import connections

from approvals_app.notify.services.alerts import alerts_watch
from approvals_app.notify.services.plan import deliveries_plan, follow_ups_plan
from approvals_app.notify.services.pulse import pulse_claim, pulse_send
from approvals_app.notify.services.send import deliveries_due, delivery_send

log = structlog.get_logger(__name__)
AT_ONCE = 4
_mine: set[UUID | str] = set()  # what this process's threads have in hand
_lock = threading.Lock()


def notify_duty() -> int:
    """Do what is due (one of the sweeper's finders); returns how many deliveries were handed over."""
    handed = notify_without_pulse()
    if pulse_claim():
        _hand_over("pulse", pulse_send)
    return handed


def notify_without_pulse() -> int:
    """The same, for a process that stands in while no sweeper lives: it must not say that all is well."""
    alerts_watch()
    deliveries_plan()
    follow_ups_plan()
    due = deliveries_due(most=AT_ONCE * 2)
    return sum(_hand_over(delivery, partial(delivery_send, delivery=delivery)) for delivery in due)


def _hand_over(what: UUID | str, work: Callable[[], object]) -> bool:
    with _lock:
        if what in _mine or len(_mine) >= AT_ONCE * 2:
            return False
        _mine.add(what)
    _threads().submit(_work, what, work)
    return True


def _work(what: UUID | str, work: Callable[[], object]) -> None:
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
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="notify")
