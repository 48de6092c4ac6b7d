"""What a process says at a crossing, as one line of JSON, and the one answer to it."""

import json
import time
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from core.boundaries import Boundary, Crossing, Position

GO = b"go\n"
RAISE = b"raise\n"  # answered at a crossing: report once more, then raise there
CLOCK = b"clock "  # followed by seconds: from here on this process's wall clock is so much ahead; report once more
SOCKET = "HANDRAIL_DRILL_SOCKET"  # names the controller's socket; set for spawned processes alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One crossing, as the controller sees it. ``pid`` is the process that waits there, ``parent`` its parent."""

    boundary: Boundary
    position: Position
    task: UUID | None
    call: str | None
    epoch: int | None
    pid: int
    parent: int
    clock: float = 0.0  # seconds since 1970, as the process itself believes

    @classmethod
    def of(cls, crossing: Crossing, *, pid: int, parent: int) -> "Report":
        """Return the report of a crossing in this process."""
        return cls(
            boundary=crossing.boundary,
            position=crossing.position,
            task=crossing.task,
            call=crossing.call,
            epoch=crossing.epoch,
            pid=pid,
            parent=parent,
            clock=time.time(),
        )

    def line(self) -> bytes:
        """Return the report as it is sent."""
        return json.dumps(asdict(self) | {"task": str(self.task) if self.task else None}).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> "Report":
        """Read a line. Raises ValueError, KeyError and TypeError for what no process of ours would send."""
        said: dict[str, Any] = json.loads(line)
        said |= {"boundary": Boundary(said["boundary"]), "position": Position(said["position"])}
        return cls(**said | {"task": UUID(said["task"]) if said["task"] else None})
