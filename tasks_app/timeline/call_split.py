"""How each call's time went, in order: in a queue, waiting for people, at work. Pure: no Django."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

BEGINS = "call.intended"
KINDS = {
    BEGINS: "queued",
    "approval.requested": "person",
    "approval.decided": "queued",
    "approval.expired": "queued",
    "approval.lapsed": "queued",
    "call.attempted": "working",
    "call.in_doubt": "person",
}
ENDS = frozenset({"call.verified", "call.settled", "call.withdrawn", "call.outcome", "call.late_receipt"})
OF_ALL = {"slice.lost": "queued", "slice.claimed": "working"}  # of every call that was at work
WIDTH = 280.0
LEAST = 2.0  # so narrow a part can still be seen
LABELS = {"queued": "in a queue", "person": "with people", "working": "at work"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a call's life. ``x``, ``width``: its place in the bar; ``seconds``."""

    name: str
    seconds: float
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSplit:
    """``parts``: one after the other. ``sums``: (label, seconds) of each kind, the longest first."""

    seconds: float
    parts: list[Part]
    sums: list[tuple[str, float]]


@dataclass(slots=True)
class _Life:
    since: datetime
    state: str = "queued"
    lost: bool = False
    stretches: list[tuple[str, float]] = field(default_factory=list)

    def turn(self, state: str, at: datetime) -> None:
        spent = max(0.0, (at - self.since).total_seconds())
        if self.stretches and self.stretches[-1][0] == self.state:
            spent += self.stretches.pop()[1]
        self.stretches.append((self.state, spent))
        self.state, self.since = state, at


def calls_split(
    facts: Iterable[tuple[str, str | None, datetime]],
    *,
    running: Mapping[str, bool],
    now: datetime,
    at_once: frozenset[str] = frozenset(),
) -> dict[str, CallSplit]:
    """Return the split of each call, from (kind, call, time) in order.

    ``running``: the calls asked about, and whether each goes on until ``now``; the others end with their last event.
    ``at_once``: those without effect, of which no attempt is recorded: they run as soon as they may.
    """
    lives: dict[str, _Life] = {}
    for kind, name, at in facts:
        if kind in OF_ALL:
            _all(lives, kind, at)
        elif name is not None and name in running and (kind == BEGINS or name in lives):
            state = KINDS.get(kind, "working")
            lives.setdefault(name, _Life(at)).turn("working" if state == "queued" and name in at_once else state, at)
    for name, life in lives.items():
        if running[name]:
            life.turn(life.state, now)
    return {name: _drawn(life.stretches) for name, life in lives.items()}


def _all(lives: Mapping[str, _Life], kind: str, at: datetime) -> None:
    for life in lives.values():
        if kind == "slice.lost" and life.state == "working":
            life.lost = True
            life.turn("queued", at)
        elif kind == "slice.claimed" and life.lost:
            life.lost = False
            life.turn("working", at)


def _drawn(stretches: list[tuple[str, float]]) -> CallSplit:
    lasting = [(name, seconds) for name, seconds in stretches if seconds > 0]
    whole = sum(seconds for _, seconds in lasting)
    wide = [max(LEAST, WIDTH * seconds / whole) for _, seconds in lasting]
    scale, x, parts = (WIDTH / sum(wide) if wide else 1.0), 0.0, []
    for (name, seconds), width in zip(lasting, wide, strict=True):
        parts.append(Part(name=name, seconds=seconds, x=round(x, 2), width=round(width * scale, 2)))
        x += width * scale
    sums: dict[str, float] = {}
    for name, seconds in lasting:
        sums[LABELS[name]] = sums.get(LABELS[name], 0.0) + seconds
    return CallSplit(seconds=whole, parts=parts, sums=sorted(sums.items(), key=lambda one: -one[1]))
