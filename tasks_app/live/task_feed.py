"""What is new on a task's page: the events after a cursor as rows, and the parts of its head that changed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.template.loader import render_to_string

from core.principal import Principal
from tasks_app.forms import fresh_forms
from tasks_app.live.message import ROWS_LIMIT, Message, Reading, Sent, packed, size
from tasks_app.models import Event, LateWrite, Task
from tasks_app.selectors.task_card import task_card
from tasks_app.selectors.tasks import task_get
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
    _late: int | None = None  # the last refused write that was sent; None before the first read

    def check(self) -> None:
        """Raise where the right is gone."""
        self.who()

    def forget(self) -> None:
        """The page resumes: what it has is known by its cursor alone."""
        self._sent, self._story, self._late = Sent(), None, None

    def read(self, after: int, *, most: int = EVENTS_AT_ONCE) -> Reading:
        """Return what came after a cursor; it advances on stored events only (case-22)."""
        principal = self.who()
        task = task_get(workspace=principal.workspace, task=self.task)
        events = list(Event.objects.filter(stream=task.pk, seq__gt=after).order_by("seq")[:most])
        reached = not events or events[-1].seq >= task.head_seq
        lates = self._lates(after) if self.timeline and reached else []
        if not events and not lates:
            return Reading(messages=[], cursor=after, head=max(after, task.head_seq))
        events, html = self._rows(task, after, events, lates)
        cursor = events[-1].seq if events else after
        self._last = (task, principal)
        message = self._message(after, cursor, html, events)
        return Reading(
            messages=[message],
            cursor=cursor,
            head=max(cursor, task.head_seq),
            more=cursor < task.head_seq,
            newest=events[-1].at if events else None,
        )

    def rest(self) -> list[Message]:
        """Return the parts of the page's head that the last reads changed: after the rows, which must not wait."""
        if self._last is None:
            return []
        (task, principal), self._last = self._last, None
        return [{"html": html} for html in packed(self._sent.changed(self._head(task, principal)))]

    def _message(self, after: int, cursor: int, html: str, events: list[Event]) -> Message:
        if cursor == after:
            return {"html": html}
        said = [event for event in events if event.kind in _SAID]
        row = Story().tell(said[-1])[-1] if said else None
        return {"seq": cursor, "after": after, "html": html} | ({"say": f"{row.line}."} if row else {})

    def _rows(self, task: Task, after: int, events: list[Event], lates: list[LateWrite]) -> tuple[list[Event], str]:
        """Return as many events as fit one message, and their rows."""
        if not self.timeline:
            return events, ""
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
        told = events[: len(rows)]
        self._story, self._story_at = story, told[-1].seq if told else after
        if len(told) == len(events):
            rows += [self._row(task, row_of_late(late)) for late in lates]
            self._late = max([self._late or 0, *(late.pk for late in lates)])
        return told, f'<ol hx-swap-oob="beforeend:#timeline">{"".join(rows)}</ol>' if rows else ""

    def _row(self, task: Task, row: Row) -> str:
        return render_to_string("tasks/_event.html", {"row": row, "task": task})

    def _story_from(self, task: Task, after: int) -> Story:
        if self._story is None or self._story_at != after:
            self._story = story_before(task=task, seq=after + 1)
        return self._story

    def _lates(self, after: int) -> list[LateWrite]:
        """Return refused writes that the page may not have; one that it has is dropped there by its id."""
        found = LateWrite.objects.filter(stream=self.task)
        if self._late is not None:
            found = found.filter(pk__gt=self._late)
        elif after:
            found = found.filter(at__gte=Event.objects.filter(stream=self.task, seq=after).values("at")[:1])
        return list(found.order_by("pk")[:EVENTS_AT_ONCE])

    def _head(self, task: Task, principal: Principal) -> Iterator[tuple[str, str]]:
        card = task_card(task=task, principal=principal)
        context = {"task": task, "card": card, "oob": True}
        for name in ("status", "banners", "facts", "calls", "record_count"):
            yield name, render_to_string(f"tasks/_{name}.html", context)
        if not self.csrf_token:
            return
        # Whether a form is offered, and in which words: the fresh keys inside it are no change.
        for action in card.actions:
            if self._sent.changed([(f"state-{action.name}", repr(action))]):
                more = {"action": action, "forms": fresh_forms(), "csrf_token": self.csrf_token}
                yield f"act-{action.name}", render_to_string("tasks/_action.html", context | more)
