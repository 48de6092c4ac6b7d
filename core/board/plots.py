"""Small plots as numbers for SVG, each with a sentence that says the same. Pure: no Django."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.moments import duration

WIDTH, HEIGHT, GAP = 480.0, 72.0, 3.0
HOURS = 24
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar, in units of the picture. ``says``: what stands behind it."""

    x: float
    y: float
    width: float
    height: float
    css: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Bars over hours, and the sentence for those who do not look at them."""

    bars: tuple[Bar, ...]
    summary: str
    top: str  # what the highest bar stands for
    width: float = WIDTH
    height: float = HEIGHT


def hours_until(now: datetime) -> list[datetime]:
    """Return the beginnings of the last 24 hours, the one that is running included, the oldest first."""
    last = now.replace(minute=0, second=0, microsecond=0)
    return [last - HOUR * back for back in range(HOURS - 1, -1, -1)]


def throughput(hours: Sequence[datetime], done: Sequence[int], bad: Sequence[int]) -> Plot:
    """Draw how many tasks completed, and how many ended otherwise, in each hour."""
    most = max((good + other for good, other in zip(done, bad, strict=True)), default=0)
    bars: list[Bar] = []
    for at, hour in enumerate(hours):
        said = f"{_clock(hour)}: {done[at]} completed, {bad[at]} failed or cancelled"
        below = _bar(at, done[at], most, css="bar-ok", says=said)
        bars += [below, _bar(at, bad[at], most, css="bar-bad", says=said, on=below.height)]
    return Plot(bars=_seen(bars), summary=_throughput_said(hours, done, bad), top=str(most) if most else "")


def _throughput_said(hours: Sequence[datetime], done: Sequence[int], bad: Sequence[int]) -> str:
    if not sum(done) + sum(bad):
        return "No task ended in the last 24 hours."
    both = [good + other for good, other in zip(done, bad, strict=True)]
    busiest = both.index(max(both))
    ended = f"{sum(done)} completed, {sum(bad)} failed or cancelled in 24 hours."
    return f"{ended} Most ended in the hour from {_clock(hours[busiest])} UTC: {both[busiest]}."


def waiting(hours: Sequence[datetime], seconds: Sequence[float], calls: int) -> Plot:
    """Draw how long calls waited for people, added up, in each hour. ``calls``: how many did."""
    most = max(seconds, default=0.0)
    bars = [
        _bar(at, seconds[at], most, css="bar-person", says=f"{_clock(hour)}: {duration(seconds[at])}")
        for at, hour in enumerate(hours)
    ]
    return Plot(bars=_seen(bars), summary=_waiting_said(hours, seconds, calls), top=duration(most) if most else "")


def _waiting_said(hours: Sequence[datetime], seconds: Sequence[float], calls: int) -> str:
    if not sum(seconds):
        return "Nothing waited for a person in the last 24 hours."
    worst = seconds.index(max(seconds))
    most = f"Most in the hour from {_clock(hours[worst])} UTC: {duration(seconds[worst])} added up."
    if calls == 1:
        return f"1 call waited for a person in 24 hours: {duration(sum(seconds))}. {most}"
    return f"{calls} calls waited for people in 24 hours, {duration(sum(seconds) / calls)} each on average. {most}"


def spread(hours: Sequence[datetime], spans: Iterable[tuple[datetime, datetime]]) -> list[float]:
    """Return how many seconds of these spans fall into each hour."""
    found = [0.0] * len(hours)
    for begin, end in spans:
        for at, hour in enumerate(hours):
            overlap = (min(end, hour + HOUR) - max(begin, hour)).total_seconds()
            found[at] += max(0.0, overlap)
    return found


def _bar(at: int, value: float, most: float, *, css: str, says: str, on: float = 0.0) -> Bar:
    step = WIDTH / HOURS
    height = round(HEIGHT * value / most, 2) if most else 0.0
    if value:
        height = max(height, 1.5)  # what is there must be seen
    y = round(max(0.0, HEIGHT - on - height), 2)
    return Bar(x=round(at * step + GAP / 2, 2), y=y, width=round(step - GAP, 2), height=height, css=css, says=says)


def _seen(bars: Iterable[Bar]) -> tuple[Bar, ...]:
    return tuple(bar for bar in bars if bar.height)


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"
