"""What is new on a task's page: the events after a cursor as rows, and the parts of its head that changed."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db.models import Subquery
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
        if not self.timeline:
            message = self._message(after, "", events) if events else None
            return Told(events=events, message=message, story=None, late=self._late)
        known = self._late_known(task, after)
        lates = deque(self._lates(known) if _has_lates(task) else ())
        if not events and not lates:
            return Told(events=[], message=None, story=None, late=known)
        told, story, rows, known = self._rows(task, after, events, lates, known)
        if len(told) == len(events) and (not events or events[-1].seq >= task.head_seq):  # else they follow an event
            rows += [self._row(task, row_of_late(late)) for late in lates]
            known = max([known, *(late.pk for late in lates)])
        html = f'<ol hx-swap-oob="beforeend:#timeline">{"".join(rows)}</ol>' if rows else ""
        return Told(events=told, message=self._message(after, html, told), story=story, late=known)

    def _message(self, after: int, html: str, events: list[Event]) -> Message:
        if not events:
            return Common({"html": html})
        said = [event for event in events if event.kind in _SAID]
        row = Story().tell(said[-1])[-1] if said else None
        told = {"seq": events[-1].seq, "after": after, "html": html}
        return Common(told | ({"say": f"{row.line}."} if row else {}))

    def _rows(
        self, task: Task, after: int, events: list[Event], lates: deque[LateWrite], known: int
    ) -> tuple[list[Event], Story, list[str], int]:
        """Return as many events as fit one message, the story after them, their rows, and the last refused write that
        is told with them: each is told before the event that came after it, and taken from ``lates``.
        """
        rows: list[str] = []
        story, total = self._story_from(task, after), 0
        story.causes = causes_told(task.pk, lost=story.lost.seq if story.lost else None, events=events)
        for event in events:
            before, ahead = replace(story), [late for late in lates if late.at < event.at]
            shown = (*map(row_of_late, ahead), *story.tell(event))
            row = "".join(self._row(task, row) for row in shown)
            total += size(row)
            if total > ROWS_LIMIT and rows:
                story = before
                break
            rows.append(row)
            for late in ahead:
                known = late.pk
                lates.popleft()
        return events[: len(rows)], story, rows, known

    def _row(self, task: Task, row: Row) -> str:
        return render_to_string("tasks/_event.html", {"row": row, "task": task})

    def _story_from(self, task: Task, after: int) -> Story:
        if self._story is None or self._story_at != after:
            return story_before(task=task, seq=after + 1)
        return replace(self._story)

    def _late_known(self, task: Task, after: int) -> int:
        """Return the last refused write that the page has. Their keys rise with their times: each was written under its
        task's lock. Before the first read those are meant that are older than the page's last event; one of the rest
        that it has as well is dropped there by its id.
        """
        if self._late is not None or not after or not _has_lates(task):
            return self._late or 0
        at = Event.objects.filter(stream=self.task, seq=after).values("at")[:1]
        older = LateWrite.objects.filter(stream=self.task, at__lt=Subquery(at))
        return older.order_by("-pk").values_list("pk", flat=True).first() or 0

    def _lates(self, known: int) -> list[LateWrite]:
        """Return the refused writes after one."""
        return list(LateWrite.objects.filter(stream=self.task, pk__gt=known).order_by("pk")[:EVENTS_AT_ONCE])

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
