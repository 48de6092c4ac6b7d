"""The audit: the administration stream of a workspace, and what people did in the records of its tasks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from core.models import Workspace
from tasks_app.models import Event, Task
from tasks_app.record.verify import Verified, stream_verify

ROWS = 100
CHECKED = 50_000  # events that a page checks while the reader waits; a longer stream is checked on the command line


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailFilter:
    """What the trail is narrowed to. ``person``: a username; ``kind``: of events."""

    person: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event; ``task`` is whose record it stands in, None for the administration stream."""

    event: Event
    task: Task | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailPage:
    """Entries, the newest first, and the key of the older ones."""

    entries: list[Entry]
    older: int | None


def administration(*, workspace: Workspace, filters: TrailFilter, before: int | None) -> TrailPage:
    """Return what changed in the workspace itself; ``before``: a sequence."""
    found = _narrowed(Event.objects.filter(stream=workspace.pk), filters)
    found = found.filter(seq__lt=before) if before is not None else found
    rows = list(found.order_by("-seq")[: ROWS + 1])
    older = rows[ROWS - 1].seq if len(rows) > ROWS else None
    return TrailPage(entries=[Entry(event=row) for row in rows[:ROWS]], older=older)


def doings(*, workspace: Workspace, filters: TrailFilter, before: int | None) -> TrailPage:
    """Return what people did to tasks: started, decided, settled, paused; ``before``: an event's id."""
    tasks = Task.objects.filter(workspace=workspace)
    found = Event.objects.filter(stream__in=tasks.values("pk"), actor__startswith="person:")
    found = _narrowed(found, filters)
    found = found.filter(pk__lt=before) if before is not None else found
    rows = list(found.order_by("-pk")[: ROWS + 1])
    of = {task.pk: task for task in tasks.filter(pk__in={row.stream for row in rows}).only("pk", "title", "workspace")}
    entries = [Entry(event=row, task=of[row.stream]) for row in rows[:ROWS]]
    return TrailPage(entries=entries, older=rows[ROWS - 1].pk if len(rows) > ROWS else None)


def _narrowed(found: QuerySet[Event], by: TrailFilter) -> QuerySet[Event]:
    plain: dict[str, Any] = {
        "actor": f"person:{by.person}" if by.person else "",
        "kind__startswith": by.kind,
        "at__gte": by.since,
        "at__lt": by.until,
    }
    return found.filter(**{name: value for name, value in plain.items() if value})


def chain(*, workspace: Workspace) -> Verified | None:
    """Check the administration stream now; None where it is too long for a page."""
    if workspace.head_seq > CHECKED:
        return None
    return stream_verify(workspace.pk)
