"""From events to the rows of a timeline: steps, worker changes, long waits. Pure: no Django.

A story is told forwards; what it must know of the time before its first event is handed to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from core.moments import duration
from tasks_app.timeline.kept import Kept, kept_in
from tasks_app.timeline.parts import Line, line, name
from tasks_app.timeline.words import words

IDLE_SECONDS = 60.0  # a longer time without an event is said in a row of its own
KEPT_SHOWN = 3  # of what is kept apart from one event, in its row
ALTERED = "$altered"


class Fact(Protocol):
    """What a row is made from: a stored event."""

    seq: int
    kind: str
    data: dict[str, Any]
    actor: str
    epoch: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row. ``css``: "", "step", "divider", "late" or "idle"; ``seq`` is None where no event stands behind it.

    ``cause``: of a worker change, why it is safe; ``lost``: the event of the loss before it.
    """

    id: str
    line: Line
    css: str = ""
    seq: int | None = None
    at: datetime | None = None
    call: str = ""
    altered: bool = False
    kept: tuple[Kept, ...] = ()
    cause: Line | None = None
    lost: int | None = None


@dataclass(slots=True, kw_only=True)
class Story:
    """What was told so far, as far as the next rows depend on it."""

    step: int = 0
    lost: Fact | None = None  # the last slice.lost that no claim has followed yet
    last_at: datetime | None = None
    causes: dict[int, Line] = field(default_factory=dict)  # of worker changes, by the claim's sequence

    def tell(self, event: Fact) -> list[Row]:
        """Return the rows for the next event."""
        rows = [*self._idle(event), *self._heading(event), self._row(event)]
        self.last_at = event.at
        return rows

    def _idle(self, event: Fact) -> list[Row]:
        gap = (event.at - self.last_at).total_seconds() if self.last_at else 0.0
        if gap < IDLE_SECONDS:
            return []
        said = line(f"{duration(gap)} without anything to do")
        return [Row(id=f"idle-{event.seq}", line=said, css="idle")]

    def _heading(self, event: Fact) -> list[Row]:
        step = event.data.get("step") if event.kind in {"context.selected", "step.decided"} else None
        if not isinstance(step, int) or step == self.step:
            return []
        self.step = step
        return [Row(id=f"step-{step}", line=line(f"Step {step}"), css="step")]

    def _row(self, event: Fact) -> Row:
        lost = self.lost
        changed = self._worker_changed(event)
        said = changed or words(event.kind, event.data, event.actor)
        call = event.data.get("name") if event.kind.startswith(("call.", "approval.")) else ""
        css = "divider" if changed else ""
        return Row(
            id=f"event-{event.seq}",
            line=said,
            css=css,
            seq=event.seq,
            at=event.at,
            call=str(call or ""),
            altered=ALTERED in event.data,
            kept=tuple(islice(kept_in(event.data), KEPT_SHOWN)),
            cause=self.causes.get(event.seq) if changed else None,
            lost=lost.seq if changed and lost else None,
        )

    def _worker_changed(self, event: Fact) -> Line | None:
        """Say that another worker continued after a loss; None for every other event."""
        if event.kind == "slice.lost":
            self.lost = event
        if event.kind != "slice.claimed" or self.lost is None:
            return None
        lost, self.lost = self.lost, None
        after = (event.at - lost.at).total_seconds()
        before = (name(lost.data.get("worker")), f" lost its lease (no. {lost.data.get('lost_epoch')}), ")
        went_on = f" continued at {event.seq} (no. {event.epoch}) after {duration(after)}"
        return line("Worker changed: ", *before, name(event.data.get("worker")), went_on, glyph="shield")


def late_row(*, id: int, at: datetime, actor: str, kind: str, data: Mapping[str, Any], epoch: int) -> Row:
    """Return the row of a write that was refused because its worker had lost the task."""
    tried = words(kind, data, actor)
    worker = name(actor.partition(":")[2] or actor)
    said = line("Late write refused: ", worker, f" presented lease no. {epoch}. It said: ", *tried.parts)
    return Row(id=f"late-{id}", line=said, css="late", at=at)
