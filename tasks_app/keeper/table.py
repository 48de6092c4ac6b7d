"""What a keeper watches: slices by their nonce, each with its process and deadlines. Pure: no I/O, no clock."""

from collections.abc import Set
from dataclasses import dataclass, replace
from uuid import UUID

GRACE = 1.0  # seconds past a deadline until the process is killed: its own watchdog has had its chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One slice. ``epoch`` None: a claim that is only expected yet. Times: CLOCK_MONOTONIC seconds."""

    task: UUID
    nonce: UUID
    pid: int
    epoch: int | None = None
    slice_until: float | None = None
    call_until: float | None = None

    @property
    def until(self) -> float:
        """The earlier of the slice's and the open call's deadline."""
        return min(moment for moment in (self.slice_until, self.call_until, float("inf")) if moment is not None)


class Table:
    """The slices of one worker. Used by the loop; the database thread gets copies."""

    def __init__(self) -> None:
        self._slices: dict[UUID, Watched] = {}

    def put(self, watched: Watched) -> None:
        """Watch a slice, or an expected claim; said again (after a reconnect, or on the claim) the newer word holds."""
        self._slices[watched.nonce] = watched

    def call_deadline(self, nonce: UUID, until: float | None) -> None:
        """Set or lift the deadline of a slice's open call."""
        if nonce in self._slices:
            self._slices[nonce] = replace(self._slices[nonce], call_until=until)

    def forget(self, nonce: UUID) -> None:
        """The slice has ended by itself, or is lost."""
        self._slices.pop(nonce, None)

    def find(self, nonce: UUID) -> Watched | None:
        """Return a slice, if it is still watched."""
        return self._slices.get(nonce)

    def pids(self) -> set[int]:
        """Return the processes that run slices."""
        return {watched.pid for watched in self._slices.values()}

    def renewable(self, now: float, stopped: Set[int]) -> list[Watched]:
        """Return what may be renewed: claimed, its process not stopped, no deadline passed (L04, case-18)."""
        return [
            watched
            for watched in self._slices.values()
            if watched.epoch is not None and watched.pid not in stopped and now <= watched.until
        ]

    def overdue(self, now: float) -> list[Watched]:
        """Return the slices so far past a deadline that their process must be killed."""
        return [watched for watched in self._slices.values() if now > watched.until + GRACE]

    def gone(self, pid: int) -> list[Watched]:
        """Take out and return all slices of a process that has died."""
        lost = [watched for watched in self._slices.values() if watched.pid == pid]
        for watched in lost:
            del self._slices[watched.nonce]
        return lost

    def __len__(self) -> int:
        return len(self._slices)
