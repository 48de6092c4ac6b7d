"""One planned death: where, who dies with it, and what became of the plan."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from chaos_app.injector.killing import Victim
from chaos_app.injector.report import Report
from core.boundaries import Boundary, Position


@dataclass(slots=True, kw_only=True)
class Place:
    """Where: a boundary and a position, in the life of a task, of one of its calls (None: of any or none).

    ``task`` may be filled in later, once there is one; until then nobody is there. A call's later tries (``change-2``)
    are there as well.
    """

    boundary: Boundary
    position: Position
    task: UUID | None = None
    call: str | None = None

    def fits(self, report: Report) -> bool:
        """Whether a process that reports this is there."""
        here = (report.boundary, report.position, report.task) == (self.boundary, self.position, self.task)
        return self.task is not None and here and self._is_of_call(report.call or "")

    def _is_of_call(self, name: str) -> bool:
        return self.call is None or name == self.call or name.rpartition("-")[0] == self.call


class Stage(StrEnum):
    """How far a plan has come."""

    ARMED = "armed"
    REACHED = "reached"  # a process waits there
    LANDED = "landed"  # and is proven dead
    FAILED = "failed"  # it lives on, or died of something else


@dataclass(slots=True, kw_only=True)
class Plan:
    """A death at a place, on the ``nth`` arrival there. ``killed_at``: seconds since 1970 by this machine's clock."""

    place: Place
    victim: Victim
    nth: int = 1
    seen: int = 0
    stage: Stage = Stage.ARMED
    killed_at: float = 0.0
    why: str = ""

    def due(self, report: Report) -> bool:
        """Count an arrival; True on the one at which somebody is to die."""
        if self.stage != Stage.ARMED or not self.place.fits(report):
            return False
        self.seen += 1
        return self.seen == self.nth
