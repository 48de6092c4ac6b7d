"""Points in time and lengths of time in words. All moments are aware datetimes; pages show UTC."""

from datetime import UTC, datetime
from math import inf

# The same steps as static/js/time.js, which keeps the words fresh in the browser.
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (30 * 86_400, 86_400, "d"))

# Of a length: up to how much, and its two units with their seconds.
_LENGTHS = ((3600, (60, "min", 1, "s")), (86_400, (3600, "h", 60, "min")), (inf, (86_400, "d", 3600, "h")))


def absolute(moment: datetime) -> str:
    """Return ``2026-11-29 12:03:22 UTC``."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock(moment: datetime) -> str:
    """Return ``12:03:22``, in UTC."""
    return f"{moment.astimezone(UTC):%H:%M:%S}"


def clock_exact(moment: datetime) -> str:
    """Return ``12:03:22.123``, in UTC."""
    return moment.astimezone(UTC).time().isoformat(timespec="milliseconds")


def machine(moment: datetime) -> str:
    """Return the moment as an HTML ``datetime`` value, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def relative(moment: datetime, now: datetime) -> str:
    """Return how long before or after ``now`` the moment is, in its largest unit; a plain date beyond 30 days."""
    seconds = (now - moment).total_seconds()
    for limit, size, unit in _STEPS:
        if abs(seconds) < limit:
            count = int(abs(seconds) // size)
            if unit == "s" and count == 0:
                return "now"
            return f"{count} {unit} ago" if seconds > 0 else f"in {count} {unit}"
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def duration(seconds: float) -> str:
    """Return a length of time: ``0.4 s``, ``12 s``, ``4 min 10 s``, ``2 h 5 min``, ``3 d``; no part that is nothing."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    size, unit, small, below = next(units for limit, units in _LENGTHS if whole < limit)
    rest = whole % size // small
    return f"{whole // size} {unit} {rest} {below}" if rest else f"{whole // size} {unit}"
