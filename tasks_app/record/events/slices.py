"""What can be said of a slice: claimed, released, lost."""

from dataclasses import dataclass
from typing import ClassVar

from tasks_app.record.events.base import Event


@dataclass(frozen=True, kw_only=True)
class SliceClaimed(Event):
    """A worker holds the task under a new fencing token."""

    KIND: ClassVar[str] = "slice.claimed"
    worker: str
    nonce: str
    host: str
    pid: int
    place: str
    code_digest: str = ""


@dataclass(frozen=True, kw_only=True)
class SliceReleased(Event):
    """A worker let go of the task by itself."""

    KIND: ClassVar[str] = "slice.released"
    why: str  # finished, parked, handed over, deadline, bound, fenced
    worker: str


@dataclass(frozen=True, kw_only=True)
class SliceLost(Event):
    """A worker was lost: how that was seen, and what was open."""

    KIND: ClassVar[str] = "slice.lost"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"log_tail"})
    lost_epoch: int
    worker: str
    seen: str  # process gone, lease ran out, killed at deadline
    place: str
    losses: int
    counted: bool
    exit_status: str | None = None
    log_tail: list[str] | None = None
