"""The named places at which a process can die, and the one hook that lets a drill stop it there.

``cross()`` does nothing unless a handler is installed, and only a process that a drill itself
spawned installs one. The ids are the rows of the boundary table; a row that is a place in the code
is crossed in exactly one place (a test counts them).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Boundary(StrEnum):
    """One row of the boundary table that is a place in the code."""

    CREATE = "B01"
    WAKE_UP = "B02"
    DELIVERED = "L01"
    CLAIM = "L02"
    CLAIMED = "L03"
    ASK = "D01"
    DECIDE = "D02"
    INTENDED = "D03"
    APPROVAL_ASKED = "A01"
    APPROVAL_DECIDED = "A02"
    APPROVAL_WAKE_UP = "A03"
    APPROVAL_USED = "A06"
    ATTEMPT = "E01"
    SEND = "E02"
    IN_FLIGHT = "E03"
    APPLIED = "E04"
    OUTCOME = "E05"
    OUTCOME_UNKNOWN = "E06"
    BATCH = "E07"
    VERIFY = "E08"
    LOOK_UP = "E09"
    CHECKPOINT = "C01"
    RELEASE = "C02"
    COMPLETE = "F01"
    CLAIMS = "F02"
    COMPLETED = "F03"
    SIGNAL = "W01"
    TIMER = "W02"
    SPAWN = "W03"
    CHILD_ENDED = "W04"
    WAIT_ENDED = "W05"
    OPERATOR = "O01"


class Position(StrEnum):
    """Where at a boundary. The two middle ones of a commit are made by a proxy in front of Postgres."""

    BEFORE = "before"
    COMMIT_KEPT = "commit-kept"
    COMMIT_DROPPED = "commit-dropped"
    AFTER = "after"
    BEFORE_SEND = "before_send"
    IN_FLIGHT = "in_flight"
    APPLIED = "applied"
    AFTER_RECEIVE = "after_receive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One passage over a boundary, as a handler sees it."""

    boundary: Boundary
    position: Position
    task: UUID | None = None
    call: str | None = None
    epoch: int | None = None
    facts: dict[str, str] = field(default_factory=dict)


_handler: Callable[[Crossing], None] | None = None


def cross(
    boundary: Boundary,
    position: Position,
    *,
    task: UUID | None = None,
    call: str | None = None,
    epoch: int | None = None,
) -> None:
    """Pass a boundary; a no-op unless a handler is installed."""
    if _handler is not None:
        _handler(Crossing(boundary=boundary, position=position, task=task, call=call, epoch=epoch))


def install(handler: Callable[[Crossing], None] | None) -> None:
    """Install the handler of this process (None removes it)."""
    global _handler
    _handler = handler
