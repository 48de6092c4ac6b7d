"""A window of a timeline: at most so many events, with the late writes that fell into its time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from core.errors import NotFound
from tasks_app.models import Event, LateWrite, Task
from tasks_app.selectors.events import events_window
from tasks_app.timeline.story import Row, Story, late_row
from tasks_app.timeline.takeovers import causes_told

EVENTS_SHOWN = 200
NEAR = 8  # events before a window that are read at once
_STEPS = ("context.selected", "step.decided")
_HOLDS = ("slice.claimed", "slice.lost")
_FAILURES = (
    Q(kind__in=["task.failed", "task.quarantined", "task.unverified", "evidence.gone", "slice.lost", "call.in_doubt"])
    | Q(kind__in=["approval.expired", "approval.lapsed"])
    | Q(kind="call.outcome", data__outcome__in=["refused", "unknown"])
    | Q(kind="evidence.observed", data__holds=False)
    | Q(kind="approval.decided", data__decision="denied")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Rows of the events ``first`` to ``last``; ``head_seq`` is the last event that existed then."""

    rows: list[Row]
    first: int
    last: int
    head_seq: int

    @property
    def is_tail(self) -> bool:
        """Whether nothing later exists: only then new rows may be appended live."""
        return self.last >= self.head_seq


def timeline_window(
    *, task: Task, before: int | None = None, after: int | None = None, at: int | None = None, limit: int = EVENTS_SHOWN
) -> Window:
    """Return the newest rows, those before or after a sequence, or those around ``at``."""
    if at is not None:
        after, before = max(0, at - limit // 2), None
    elif after is None and before is None:
        before = 2**62
    # The first events are one window, whichever way one came to them: a page of three rows serves nobody.
    if before is not None and before <= limit:
        before, after = None, 0
    found = events_window(task=task, after=after, before=before, limit=limit)
    events = found.events
    if not events:
        return Window(rows=[], first=0, last=found.head_seq, head_seq=found.head_seq)
    last = events[-1].seq
    until = None if last >= found.head_seq else events[-1]
    lates = late_writes(task=task, since=events[0], until=until)
    story = story_before(task=task, seq=events[0].seq)
    story.causes = causes_told(task.pk, lost=story.lost.seq if story.lost else None, events=events)
    rows = merged(story, events, lates)
    return Window(rows=rows, first=events[0].seq, last=last, head_seq=max(found.head_seq, last))


def story_before(*, task: Task, seq: int) -> Story:
    """Return what a story must know of the time before the event ``seq``."""
    if seq <= 1:
        return Story()
    earlier = Event.objects.filter(stream=task.pk, seq__lt=seq).order_by("-seq")
    near = list(earlier[:NEAR])
    step, held = (_newest(earlier, near, kinds) for kinds in (_STEPS, _HOLDS))
    return Story(
        step=step.data.get("step", 0) if step else 0,
        lost=held if held and held.kind == "slice.lost" else None,
        last_at=near[0].at if near else None,
    )


def _newest(earlier: QuerySet[Event], near: Sequence[Event], kinds: Sequence[str]) -> Event | None:
    """Return the newest of these kinds: mostly it is near, and needs no question of its own."""
    found = next((event for event in near if event.kind in kinds), None)
    return found or (earlier.filter(kind__in=kinds).first() if len(near) == NEAR else None)


def late_writes(*, task: Task, since: Event, until: Event | None) -> list[LateWrite]:
    """Return the refused writes from the time of one event (of the beginning, if it is the first) to another's."""
    found = LateWrite.objects.filter(stream=task.pk)
    if since.seq > 1:
        found = found.filter(at__gte=since.at)
    if until is not None:
        found = found.filter(at__lt=until.at)
    return list(found.order_by("at", "pk")[:EVENTS_SHOWN])


def merged(story: Story, events: Sequence[Event], lates: Iterable[LateWrite]) -> list[Row]:
    """Tell the events, each late write after the last event that was there before it."""
    rows: list[Row] = []
    waiting = list(lates)
    for event in events:
        while waiting and waiting[0].at < event.at:
            rows.append(row_of_late(waiting.pop(0)))
        rows += story.tell(event)
    return rows + [row_of_late(late) for late in waiting]


def row_of_late(late: LateWrite) -> Row:
    """Return the row of one refused write."""
    return late_row(
        id=late.pk, at=late.at, actor=late.actor, kind=late.kind, data=late.data, epoch=late.presented_epoch
    )


def failure_after(*, task: Task, seq: int) -> int:
    """Return the first failure after a sequence, from the beginning again after the last. Raises NotFound."""
    found = Event.objects.filter(_FAILURES, stream=task.pk).order_by("seq").values_list("seq", flat=True)
    first = found.filter(seq__gt=seq).first() or found.first()
    if first is None:
        raise NotFound("Nothing in this record is a failure.")
    return first


def event_at(*, task: Task, moment: datetime) -> int:
    """Return the sequence of the first event at or after a moment, of the last one where there is none.

    Halving: a record's times rise with its sequence, and no index over times is needed for it.
    """
    found = Event.objects.filter(stream=task.pk).values_list("at", flat=True)
    low, high = 1, max(1, task.head_seq)
    while low < high:
        middle = (low + high) // 2
        at = found.filter(seq=middle).first()
        if at is not None and at >= moment:
            high = middle
        else:
            low = middle + 1
    return low
