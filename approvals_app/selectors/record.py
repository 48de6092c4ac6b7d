"""The data of one event, with its large values read back."""

from typing import Any

from tasks_app.models import Blob, Event
from tasks_app.record.payload import resolve


def event_whole(event: Event) -> dict[str, Any]:
    """Return an event's data; raises BlobMismatch where a stored value is not the one referred to."""

    def load(sha256: str) -> bytes:
        return bytes(Blob.objects.values_list("content", flat=True).get(stream=event.stream, sha256=sha256))

    whole: dict[str, Any] = resolve(event.data, load)
    return whole
