"""What is new on a task's page: the events after a cursor as rows, and the parts of its head that changed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.template.loader import render_to_string

from core.principal import Principal
from tasks_app.forms import fresh_forms
from tasks_app.live.message import ROWS_LIMIT, Common, Message, Reading, Sent, packed, size
from tasks_app.live.task_round import Round, Told
from tasks_app.models import Event, LateWrite, Task
from tasks_app.timeline.story import Row, Story
from tasks_app.timeline.takeovers import causes_told
from tasks_app.timeline.window import row_of_late, story_before

EVENTS_AT_ONCE = 100
# What a reader who listens wants to be told.
_SAID = frozenset(
    {
        "task.completed",
        "task.failed",
        "task.cancelled",
        "task.unverified",
        "task.quarantined",
        "task.paused",
        "task.resumed",
        "approval.requested",
        "approval.decided",
        "call.in_doubt",
        "call.settled",
        "slice.lost",
    }
)


@dataclass(slots=True, kw_only=True)
class TaskFeed:
    """Follows one task for one reader. ``who`` is asked at every read and raises where the right is gone.

    ``csrf_token``: for the forms in the head; without one they stay as they are. Not to be used by two threads at once.
    """

    task: UUID
    who: Callable[[], Principal]
    timeline: bool
    csrf_token: str = ""
    _sent: Sent = field(default_factory=Sent)
    _story: Story | None = None
    _story_at: int = -1
    _last: tuple[Task, Principal] | None = None  # as of the last read that told something
    _told: int = 0  # the cursor after that read
    _late: int | None = None  # the last refused write that was sent; None before the first read

    def check(self) -> None:
        """Raise where the right is gone."""
        self.who()

    def forget(self) -> None:
        """The page resumes: what it has is known by its cursor alone."""
        self._sent, self._story, self._late = Sent(), None, None

    def read(self, after: int, *, most: int = EVENTS_AT_ONCE) -> Reading:
        """Return what came after a cursor; it advances on stored events only (case-22)."""
        return self.read_as(self.who(), after, Round(), most=most)

    def read_as(self, principal: Principal, after: int, once: Round, *, most: int = EVENTS_AT_ONCE) -> Reading:
        """Read for a reader who has just been asked for, in a round with others."""
        task = once.task(principal.workspace, self.task)
        key = ("told", task.pk, after, self.timeline, self._late, most)
        told = once.once(key, lambda: self._tell(task, after, most))
        if told.message is None:
            return Reading(messages=[], cursor=after, head=max(after, task.head_seq))
        cursor = told.events[-1].seq if told.events else after
        self._story, self._story_at = replace(told.story) if told.story else None, cursor
        self._late, self._last, self._told = told.late, (task, principal), cursor
        return Reading(
            messages=[told.message],
            cursor=cursor,
            head=max(cursor, task.head_seq),
            more=cursor < task.head_seq,
            newest=told.events[-1].at if told.events else None,
        )

    def rest(self) -> list[Message]:
        """Return the parts of the page's head that the last reads changed: after the rows, which must not wait."""
        return self.rest_as(Round())

    def rest_as(self, once: Round) -> list[Message]:
        """Return them in a round with others."""
        if self._last is None:
            return []
        (task, principal), self._last = self._last, None
        if task.head_seq < self._told:  # it was read before the last events were written: its state is theirs no more
            task = once.task(principal.workspace, self.task)
        return [{"html": html} for html in packed(self._sent.changed(self._head(task, principal, once)))]

    def _tell(self, task: Task, after: int, most: int) -> Told:
        events = list(Event.objects.filter(stream=task.pk, seq__gt=after).order_by("seq")[:most])
        reached = not events or events[-1].seq >= task.head_seq
        lates = self._lates(after) if self.timeline and reached and _has_lates(task) else []
        if not events and not lates:
            return Told(events=[], message=None, story=None, late=self._late)
        if not self.timeline:
            return Told(events=events, message=self._message(after, "", events), story=None, late=self._late)
        told, story, rows = self._rows(task, after, events)
        late = self._late
        if len(told) == len(events):
            rows += [self._row(task, row_of_late(one)) for one in lates]
            late = max([self._late or 0, *(one.pk for one in lates)])
        html = f'<ol hx-swap-oob="beforeend:#timeline">{"".join(rows)}</ol>' if rows else ""
        return Told(events=told, message=self._message(after, html, told), story=story, late=late)

    def _message(self, after: int, html: str, events: list[Event]) -> Message:
        if not events:
            return Common({"html": html})
        said = [event for event in events if event.kind in _SAID]
        row = Story().tell(said[-1])[-1] if said else None
        told = {"seq": events[-1].seq, "after": after, "html": html}
        return Common(told | ({"say": f"{row.line}."} if row else {}))

    def _rows(self, task: Task, after: int, events: list[Event]) -> tuple[list[Event], Story, list[str]]:
        """Return as many events as fit one message, the story after them, and their rows."""
        rows: list[str] = []
        story, total = self._story_from(task, after), 0
        story.causes = causes_told(task.pk, lost=story.lost.seq if story.lost else None, events=events)
        for event in events:
            before = replace(story)
            row = "".join(self._row(task, row) for row in story.tell(event))
            total += size(row)
            if total > ROWS_LIMIT and rows:
                story = before
                break
            rows.append(row)
        return events[: len(rows)], story, rows

    def _row(self, task: Task, row: Row) -> str:
        return render_to_string("tasks/_event.html", {"row": row, "task": task})

    def _story_from(self, task: Task, after: int) -> Story:
        if self._story is None or self._story_at != after:
            return story_before(task=task, seq=after + 1)
        return replace(self._story)

    def _lates(self, after: int) -> list[LateWrite]:
        """Return refused writes that the page may not have; one that it has is dropped there by its id."""
        found = LateWrite.objects.filter(stream=self.task)
        if self._late is not None:
            found = found.filter(pk__gt=self._late)
        elif after:
            found = found.filter(at__gte=Event.objects.filter(stream=self.task, seq=after).values("at")[:1])
        return list(found.order_by("pk")[:EVENTS_AT_ONCE])

    def _head(self, task: Task, principal: Principal, once: Round) -> Iterator[tuple[str, str]]:
        card = once.card(task, principal)
        yield from once.head(task, card)
        if not self.csrf_token:
            return
        # Whether a form is offered, and in which words: the fresh keys inside it are no change.
        for action in card.actions:
            if self._sent.changed([(f"state-{action.name}", repr(action))]):
                context = {"task": task, "card": card, "oob": True, "action": action, "forms": fresh_forms()}
                more = {"csrf_token": self.csrf_token}
                yield f"act-{action.name}", render_to_string("tasks/_action.html", context | more)


def _has_lates(task: Task) -> bool:
    """Whether writes were refused in this task, where that was read with its row."""
    read: bool = task.__dict__.get("has_lates", True)
    return read
