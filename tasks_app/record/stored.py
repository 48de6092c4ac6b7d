"""From an event to what is written: mask, normalise, store large values as blobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.record.events import Event
from tasks_app.record.payload import BlobPart, split_large


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEvent:
    """An event ready for the statement."""

    kind: str
    data: dict[str, Any]
    after: dict[str, float]
    blobs: Sequence[BlobPart]


def event_prepare(event: Event) -> PreparedEvent:
    """Return the event's stored form; never raises on what tools and agents say (case-24)."""
    data, after = event.parts()
    data, blobs = split_large(data)
    return PreparedEvent(kind=event.KIND, data=data, after=after, blobs=blobs)
