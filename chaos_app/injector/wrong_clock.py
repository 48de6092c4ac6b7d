"""A process whose wall clock is wrong: ``time.time`` and what Django calls now are ahead, until another task is met.

The monotonic clock is left alone, as every system does when its wall clock is set.
"""

import time
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

_real = (time.time, time.time_ns, timezone.now)
_now: dict[str, UUID | None] = {}


def ahead(seconds: float, *, task: UUID | None) -> None:
    """Set this process's clock forward while it works on a task."""
    _now["task"] = task
    read, read_ns, moment = _real

    def wrong_time() -> float:
        return read() + seconds

    def wrong_ns() -> int:
        return read_ns() + int(seconds * 1e9)

    def wrong_now() -> datetime:
        return moment() + timedelta(seconds=seconds)

    time.time, time.time_ns, timezone.now = wrong_time, wrong_ns, wrong_now


def right_again(*, unless: UUID | None) -> None:
    """Set the clock right, unless this is the task during which it is wrong."""
    if _now and _now["task"] != unless:
        _now.clear()
        time.time, time.time_ns, timezone.now = _real
