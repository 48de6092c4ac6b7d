"""Reading a record: a window of events by sequence, and what was stored apart."""

from dataclasses import dataclass

from core.errors import NotFound
from tasks_app.models import Blob, Event, Task

MOST_EVENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWindow:
    """Events in order of their sequence; ``head_seq`` is the last one that exists."""

    events: list[Event]
    head_seq: int

    @property
    def has_more(self) -> bool:
        """Whether later events exist beyond this window."""
        return bool(self.events) and self.events[-1].seq < self.head_seq


def events_window(
    *, task: Task, after: int | None = None, before: int | None = None, limit: int = 200, kinds: tuple[str, ...] = ()
) -> EventWindow:
    """Return up to ``limit`` events after a sequence (the first ones), or before one (the last ones before it).

    The head is read first: an event that is appended meanwhile may be in the window, never missing below the head.
    """
    limit = max(1, min(limit, MOST_EVENTS))
    head = Task.objects.values_list("head_seq", flat=True).get(pk=task.pk)
    found = Event.objects.filter(stream=task.pk)
    if kinds:
        found = found.filter(kind__in=kinds)
    if before is not None and after is None:
        rows = list(found.filter(seq__lt=before).order_by("-seq")[:limit])[::-1]
    else:
        found = found.filter(seq__gt=after or 0)
        rows = list((found.filter(seq__lt=before) if before is not None else found).order_by("seq")[:limit])
    return EventWindow(events=rows, head_seq=head)


def event_get(*, task: Task, seq: int) -> Event:
    """Return one event. Raises NotFound."""
    found = Event.objects.filter(stream=task.pk, seq=seq).first()
    if found is None:
        raise NotFound
    return found


def blob_get(*, task: Task, sha256: str) -> Blob:
    """Return what was stored apart from an event of this task. Raises NotFound."""
    found = Blob.objects.filter(stream=task.pk, sha256=sha256).first()
    if found is None:
        raise NotFound
    return found
