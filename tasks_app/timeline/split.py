"""How a task's time was spent: working, queued, waiting for people, waiting for something else. Pure: no Django."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

KINDS = (
    *("slice.claimed", "slice.released", "slice.lost", "wait.started", "wait.ended"),
    *("approval.decided", "approval.expired", "call.in_doubt", "call.settled"),
)
FOR_PEOPLE = frozenset({"approval", "stop"})
WIDTH = 280.0
LABELS = {"working": "Working", "queued": "Queued", "person": "Waiting for people", "other": "Waiting otherwise"}


class Fact(Protocol):
    """A stored event."""

    kind: str
    data: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One part of a task's time. ``x``, ``width``: its place in the bar."""

    name: str
    seconds: float
    x: float
    width: float

    @property
    def label(self) -> str:
        """What it is called."""
        return LABELS[self.name]


def time_split(facts: Iterable[Fact], *, created: datetime, until: datetime) -> list[Share]:
    """Return the parts in the order of ``LABELS``, those without any time left out."""
    spent = dict.fromkeys(LABELS, 0.0)
    state, since, rest = "queued", created, "queued"
    for fact in facts:
        fresh, rest = _after(state, rest, fact)
        if fresh != state:
            spent[state] += max(0.0, (fact.at - since).total_seconds())
            state, since = fresh, fact.at
    spent[state] += max(0.0, (until - since).total_seconds())
    return _shares({name: seconds for name, seconds in spent.items() if seconds > 0})


def _after(state: str, rest: str, fact: Fact) -> tuple[str, str]:
    """Return what the task does after an event, and what it will do once its work session has ended."""
    match fact.kind:
        case "slice.claimed":
            return "working", "queued"
        case "wait.started":
            rest = "person" if fact.data.get("kind") in FOR_PEOPLE else "other"
        case "call.in_doubt":
            rest = "person"
        case "slice.released" | "slice.lost":
            return rest, rest
        case _:  # what was waited for has come
            rest = "queued"
    return (state if state == "working" else rest), rest


def _shares(spent: dict[str, float]) -> list[Share]:
    whole, x, made = sum(spent.values()), 0.0, []
    for name, seconds in spent.items():
        width = round(WIDTH * seconds / whole, 2)
        made.append(Share(name=name, seconds=seconds, x=round(x, 2), width=width))
        x += width
    return made
