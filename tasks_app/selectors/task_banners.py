"""What the page of a task must say first: who is waited for, what is in doubt, what was refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.clock import database_now
from tasks_app.models import Call, Event, Task
from tasks_app.runtime.recorded import data_whole
from tasks_app.status import CallState, Status, WaitKind
from tasks_app.timeline.parts import Line, line, name, quote, who

PATIENCE = timedelta(seconds=10)  # a due task that nobody takes for so long has no worker
MOST = 5  # banners of one kind
LOOK_BACK = 5000  # events: what a notice is about stands near the end, and of a long record not all is looked through


@dataclass(frozen=True, slots=True, kw_only=True)
class Banner:
    """One notice. ``tone``: info, ok, person, bad or unknown. The rest says where it leads."""

    tone: str
    glyph: str
    line: Line
    approval: str = ""
    settle: str = ""
    event: int = 0
    stop: bool = False


def task_banners(*, task: Task, open_calls: Sequence[Call] | None) -> list[Banner]:
    """Return the notices of a task, the most urgent first. ``open_calls``: all of them, or None if not known here."""
    made = {
        Status.PAUSED: _paused,
        Status.QUARANTINED: _quarantined,
        Status.UNVERIFIED: _unverified,
        Status.COMPLETED: _gone,
        Status.FAILED: _failed,
        Status.CANCELLING: _cancelling,
    }.get(Status(task.status))
    doubts, asked = (_in_state(task, state, open_calls) for state in (CallState.IN_DOUBT, CallState.ASKED))
    return [*_doubts(doubts), *_asked(task, asked), *_held(task), *(made(task) if made else ()), *_nobody(task)]


def _in_state(task: Task, state: CallState, known: Sequence[Call] | None) -> list[Call]:
    if known is None:
        return list(Call.objects.filter(task=task, state=state).order_by("step", "ordinal")[:MOST])
    return sorted((one for one in known if one.state == state), key=lambda one: (one.step, one.ordinal))[:MOST]


def _doubts(calls: Sequence[Call]) -> Iterator[Banner]:
    for call in calls:
        said = line("Outcome unknown: needs you. ", name(call.name), " (", name(call.tool), ") was attempted.")
        yield Banner(tone="unknown", glyph="unknown", line=said, settle=call.name)


def _asked(task: Task, calls: Sequence[Call]) -> Iterator[Banner]:
    for call in calls:
        asked_for = Event.objects.filter(stream=task.pk, kind="approval.requested", data__name=call.name)
        found = asked_for.order_by("-seq").first()
        if found is not None:
            said = line("Waiting for approval", *quote(found.data.get("line")))
            yield Banner(tone="person", glyph="person", line=said, approval=str(found.data.get("approval", "")))


def _held(task: Task) -> Iterator[Banner]:
    if task.status == Status.WAITING and (task.wait or {}).get("kind") == WaitKind.STOP:
        said = line("A stop is set: the next call does not begin until it is lifted; the task then goes on by itself.")
        yield Banner(tone="person", glyph="stopped", line=said, stop=True)


def _last(task: Task, kind: str) -> Event | None:
    near = Event.objects.filter(stream=task.pk, kind=kind, seq__gt=task.head_seq - LOOK_BACK)
    return near.order_by("-seq").first()


def _paused(task: Task) -> Iterator[Banner]:
    event = _last(task, "task.paused")
    if event is not None:
        said = line("Paused by ", who(event.actor), *quote(event.data.get("reason")))
        yield Banner(tone="info", glyph="paused", line=said, event=event.seq)


def _quarantined(task: Task) -> Iterator[Banner]:
    event = _last(task, "task.quarantined")
    if event is not None:
        lost = f"Stopped after {event.data.get('losses')} lost workers at "
        said = line(lost, name(event.data.get("place")), ". Look at what kills them, then release or cancel it.")
        yield Banner(tone="bad", glyph="stopped", line=said, event=event.seq)


def _unverified(task: Task) -> Iterator[Banner]:
    yield from _missing(_last(task, "task.unverified"), "Says done, check failed: ")


def _gone(task: Task) -> Iterator[Banner]:
    gone, last = _last(task, "evidence.gone"), _last(task, "evidence.observed")
    if gone is not None and last is not None and gone.seq > last.seq:
        yield from _missing(gone, "Completed, but the evidence has gone: ")


def _missing(event: Event | None, before: str) -> Iterator[Banner]:
    if event is None:
        return
    for item in data_whole(event.stream, event.data).get("missing", [])[:MOST]:
        expected = quote(item.get("expected"), before=" was expected as ")
        seen = quote(item.get("seen"), before=", and was seen as ")
        said = line(before, name(item.get("criterion")), *expected, *seen)
        yield Banner(tone="bad", glyph="unverified", line=said, event=event.seq)


def _failed(task: Task) -> Iterator[Banner]:
    event = _last(task, "task.failed")
    if event is not None:
        said = line("Failed", *quote(event.data.get("reason")))
        yield Banner(tone="bad", glyph="failed", line=said, event=event.seq)


def _cancelling(task: Task) -> Iterator[Banner]:
    said = line("Cancelling: nothing further starts; it ends as soon as no attempt is open.")
    yield Banner(tone="info", glyph="cancelling", line=said)


def _nobody(task: Task) -> Iterator[Banner]:
    due = task.wake_at if task.status == Status.QUEUED and task.lease_nonce is None else None
    if due and database_now() - due > PATIENCE:
        said = line("No worker has taken this task yet, though it is due. It starts as soon as one is free.")
        yield Banner(tone="info", glyph="info", line=said)
