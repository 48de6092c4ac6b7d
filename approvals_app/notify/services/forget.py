"""Deliveries and alerts that are long over are removed: what they were about stays in the record."""

import time
from datetime import timedelta

from approvals_app.notify.models import Alert, Delivery
from core.clock import ClockTimestamp

KEPT = timedelta(days=90)
EVERY = 3600.0  # seconds between two looks of one process
BATCH = 1000
_due = 0.0


def deliveries_forget() -> int:
    """Remove what ended long ago (one of the sweeper's finders); returns how many."""
    global _due
    if time.monotonic() < _due:
        return 0
    _due = time.monotonic() + EVERY
    return old_forget()


def old_forget() -> int:
    """Remove what ended before the time that is kept; returns how many."""
    old = ClockTimestamp() - KEPT
    ended = Delivery.objects.filter(ended_at__lt=old).order_by("pk").values_list("pk", flat=True)[:BATCH]
    gone = Delivery.objects.filter(pk__in=list(ended)).delete()[0]
    over = Alert.objects.filter(cleared_at__lt=old).order_by("pk").values_list("pk", flat=True)[:BATCH]
    return gone + Alert.objects.filter(pk__in=list(over)).delete()[0]
