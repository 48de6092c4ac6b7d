"""The sign of life for the outside: an address is called while all is well, so that silence is noticed there.

Only a sweeper calls it, and only while the database answers, a worker lives and messages get out. Whoever expects the
call (a dead-man switch of any make) raises the alarm that we could not.
"""

from datetime import UTC, datetime, timedelta

import httpx
import structlog
from django.conf import settings

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Delivery, Pulse
from core.clock import ClockTimestamp
from tasks_app.sweeper_row import POOL
from tasks_app.workers import workers_alive

log = structlog.get_logger(__name__)
PATIENCE = 10.0
STUCK = timedelta(minutes=5)  # a delivery that is overdue by so much says that nothing gets out
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def healthy() -> bool:
    """Whether there is nothing that the outside should be worried about."""
    overdue = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lt=ClockTimestamp() - STUCK)
    return workers_alive().exclude(pool=POOL).exists() and not overdue.exists()


def pulse_claim() -> bool:
    """Whether this process is to call now; of many sweepers, one an interval."""
    if not settings.HANDRAIL_HEARTBEAT_URL or not healthy():
        return False
    Pulse.objects.get_or_create(pk=1, defaults={"beat_at": NEVER})
    every = timedelta(seconds=settings.HANDRAIL_HEARTBEAT_SECONDS)
    return bool(Pulse.objects.filter(beat_at__lte=ClockTimestamp() - every).update(beat_at=ClockTimestamp()))


def pulse_send() -> None:
    """Call the address once, and keep what it answered. A call that fails is not repeated: the next one follows."""
    try:
        answer = httpx.get(settings.HANDRAIL_HEARTBEAT_URL, timeout=PATIENCE)
        said = str(answer.status_code)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = type(error).__name__
    if not said.startswith("2"):
        log.warning("heartbeat_not_taken", said=said)
    Pulse.objects.filter(pk=1).update(answer=said)
