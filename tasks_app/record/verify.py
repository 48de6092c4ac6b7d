"""Checking records where they are: the same check as of an exported one, and what only the database can show."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import F, Func, IntegerField, Max, QuerySet

from core.models import Workspace
from tasks_app.models import Blob, Event, LateWrite, Task
from tasks_app.record.bodies import bodies
from tasks_app.record.export import Head, export_lines, stream_head
from tasks_app.record.verifier import Report, verify

AT_A_TIME = 200


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in one stream. ``late``: how many writes of fenced-off workers are kept beside it."""

    stream: UUID
    kind: str
    report: Report
    late: int = 0
    problems: list[str] = field(default_factory=list)


def stream_verify(stream: UUID) -> Verified:
    """Check one stream: sequence, chain, head, blobs (S11), and that no old epoch writes after a newer claim (S7).

    Raises NotFound where there is no such task or workspace.
    """
    head = stream_head(stream)
    report = verify(export_lines(head))
    late = LateWrite.objects.filter(stream=stream)
    problems = [*report.problems, *_beyond(head), *_blob_sizes(stream), *_fenced(head), *_late(late)]
    return Verified(stream=stream, kind=head.kind, report=report, late=late.count(), problems=problems)


def streams() -> Iterator[UUID]:
    """Yield every stream, tasks and administration, by keyset."""
    for model in (Workspace, Task):
        last: UUID | None = None
        while True:
            rows = model.objects.order_by("pk") if last is None else model.objects.order_by("pk").filter(pk__gt=last)
            page = list(rows.values_list("pk", flat=True)[:AT_A_TIME])
            yield from page
            if len(page) < AT_A_TIME:
                break
            last = page[-1]


def strays() -> list[str]:
    """Name the events and blobs of streams that do not exist (any more)."""
    known = Task.objects.values("pk").union(Workspace.objects.values("pk"))
    return [
        f"{what} of the stream {stream} stand in the database, and there is no such task or workspace."
        for what, model in (("Events", Event), ("Blobs", Blob))
        for stream in model.objects.exclude(stream__in=known).values_list("stream", flat=True).distinct()[:20]
    ]


def _beyond(head: Head) -> Iterator[str]:
    """Events after the head: compared in one statement, since the record may grow meanwhile."""
    last = Event.objects.filter(stream=head.stream).aggregate(last=Max("seq"))["last"] or 0
    if last > head.seq and stream_head(head.stream).seq < last:
        yield f"Event {last} stands after the head, which is {head.seq}."


def _blob_sizes(stream: UUID) -> Iterator[str]:
    wrong = (
        Blob.objects.filter(stream=stream)
        .annotate(there=Func("content", function="octet_length", output_field=IntegerField()))
        .exclude(size=F("there"))
    )
    for blob in wrong:
        yield f"Blob {blob.sha256} has {blob.there} bytes, its row says {blob.size}."


def _fenced(head: Head) -> Iterator[str]:
    """No event of an old epoch follows a claim by a newer one, late receipts apart (S7)."""
    claimed = 0
    for body in bodies(head.stream, until=head.seq):
        if body.epoch is not None and body.epoch < claimed and body.kind != "call.late_receipt":
            yield f"Event {body.seq} was written under lease no. {body.epoch}, after lease no. {claimed} was claimed."
        if body.kind == "slice.claimed" and body.epoch is not None:
            claimed = max(claimed, body.epoch)


def _late(late: QuerySet[LateWrite]) -> Iterator[str]:
    """A late write was refused because its token was not the one held; equal tokens would be a lost write."""
    for row in late.iterator():
        if row.held_epoch is not None and row.presented_epoch > row.held_epoch:
            yield (
                f"A late {row.kind} presented lease no. {row.presented_epoch},"
                f" which was never given out (the task was at no. {row.held_epoch})."
            )
