"""The events of a stream as the server hashed them: the text of each body, its time, its digest."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import F, TextField
from django.db.models.functions import Cast, JSONObject

from tasks_app.models import Event

AT_A_TIME = 500
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BODY = Cast(JSONObject(stream="stream", seq="seq", kind="kind", actor="actor", epoch="epoch", data="data"), TextField())


@dataclass(frozen=True, slots=True)
class Body:
    """One event, ready to be hashed. ``at_us``: microseconds since 1970 UTC."""

    seq: int
    text: str
    at_us: int
    digest: bytes
    kind: str
    epoch: int | None


def micros(at: datetime) -> int:
    """Return a moment as microseconds since 1970 UTC, without rounding."""
    return (at - EPOCH) // timedelta(microseconds=1)


def bodies(stream: UUID, *, until: int, after: int = 0) -> Iterator[Body]:
    """Yield the events after one sequence up to another, page by page: memory does not grow with the record."""
    while True:
        page = Event.objects.filter(stream=stream, seq__gt=after, seq__lte=until).order_by("seq").annotate(body=BODY)
        rows = page.values_list("seq", "body", "at", "digest", "kind", F("epoch"))[:AT_A_TIME]
        count = 0
        for seq, text, at, digest, kind, epoch in rows:
            yield Body(seq, text, micros(at), bytes(digest), kind, epoch)
            after, count = seq, count + 1
        if count < AT_A_TIME:
            return
