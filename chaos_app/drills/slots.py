"""When a schedule's slots lie, and what becomes of each. Pure; moments are aware, slots are UTC.

Rule at a change of the clocks (case-27): an hourly schedule follows real hours; a fixed time of day that does not exist
fires at the jump, and one that exists twice fires at the first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

ON_TIME = timedelta(seconds=10)  # a slot that is seen within this was fired on time
MOST = 1000  # slots of one absence that are written down, the newest ones


class NoSuchScheduleError(ValueError):
    """The expression or the zone cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What becomes of slots: seconds of grace, what is made up after an absence, what happens to an overlap."""

    grace: timedelta
    catch_up: str = "latest"  # latest, each, skip
    most: int = 3
    overlap: str = "skip"  # skip, wait


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What is decided about a slot. ``state``: fired, late, skipped, missed; "" to decide later."""

    at: datetime
    state: str
    why: str = ""


def occurrences(cron: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the slots after a moment, in UTC. Raises NoSuchScheduleError."""
    try:
        local = after.astimezone(ZoneInfo(zone))
        found = CronSim(cron, local)
    except (CronSimError, ZoneInfoNotFoundError, ValueError) as error:
        raise NoSuchScheduleError(str(error) or f"There is no zone {zone!r}.") from error
    for moment in found:
        yield moment.astimezone(UTC)


def between(cron: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """Return the slots after one moment and up to another; the newest ``MOST`` where there are more."""
    found: list[datetime] = []
    for moment in occurrences(cron, zone, after):
        if moment > until:
            break
        found = [*found[-(MOST - 1) :], moment]
    return found


def fates(due: Sequence[datetime], now: datetime, policy: Policy, *, busy: bool) -> list[Fate]:
    """Decide about the slots that are due, oldest first. At most one of them is fired; ``busy``: a run is under way."""
    if not due:
        return []
    kept = set(_kept(due, now, policy))
    decided: list[Fate] = [_missed(at, now, policy) for at in due if at not in kept]
    waits = False
    for at in (one for one in due if one in kept):
        fate = Fate(at=at, state="") if waits else _of(at, now, policy, busy=busy)
        waits = waits or fate.state in {"", "fired", "late"}
        decided.append(fate)
    return sorted(decided, key=lambda fate: fate.at)


def _kept(due: Sequence[datetime], now: datetime, policy: Policy) -> list[datetime]:
    """Return the slots that may still be fired."""
    if policy.catch_up == "each":
        return list(due[-policy.most :])
    if policy.catch_up == "skip":
        return [at for at in due[-1:] if now - at <= ON_TIME]
    return [at for at in due[-1:] if now - at <= policy.grace]


def _missed(at: datetime, now: datetime, policy: Policy) -> Fate:
    late = _minutes(now - at)
    match policy.catch_up:
        case "each":
            why = f"Nobody was there; only the last {policy.most} are made up."
        case "skip":
            why = f"Nobody was there; it was seen {late} later, and nothing is made up."
        case _:
            over = now - at > policy.grace
            why = f"It was seen {late} later, over the grace." if over else "A later slot took its place."
    return Fate(at=at, state="missed", why=why)


def _of(at: datetime, now: datetime, policy: Policy, *, busy: bool) -> Fate:
    if busy and policy.overlap == "skip" and policy.catch_up != "each":
        return Fate(at=at, state="skipped", why="The run before it was still under way.")
    if busy:
        return Fate(at=at, state="")
    if now - at <= ON_TIME:
        return Fate(at=at, state="fired")
    return Fate(at=at, state="late", why=f"For {at:%H:%M}Z, late by {_minutes(now - at)}.")


def _minutes(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"
