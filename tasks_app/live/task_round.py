"""What several feeds of one round read and render alike; thrown away with the round."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.template.loader import render_to_string

from core.models import Workspace
from core.principal import Principal
from tasks_app.live.message import Message
from tasks_app.models import Event, LateWrite, Task
from tasks_app.selectors.task_card import TaskCard, task_card
from tasks_app.selectors.tasks import task_get
from tasks_app.timeline.story import Story

HEAD = ("status", "banners", "facts", "calls", "record_count")  # the same for everybody who may read the task


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The events after a cursor as one message, the story after them, and the last refused write that is told."""

    events: list[Event]
    message: Message | None
    story: Story | None
    late: int | None


def tasks_followed(tasks: Iterable[UUID]) -> dict[UUID, Task]:
    """Return the rows of those that there are, each with whether writes were refused in it (``has_lates``)."""
    lates = Exists(LateWrite.objects.filter(stream=OuterRef("pk")))
    rows = Task.objects.filter(pk__in=tasks).select_related("owner", "workspace").annotate(has_lates=lates)
    return {row.pk: row for row in rows}


@dataclass(slots=True)
class Round:
    """Remembers by what an answer depends on."""

    _known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, tasks: Mapping[UUID, Task]) -> "Round":
        """Begin with these rows, which have just been read."""
        return cls({("task", row.workspace_id, pk): row for pk, row in tasks.items()})

    def once[T](self, key: Any, make: Callable[[], T]) -> T:
        """Return what ``make`` returns, from the first who asked for this key."""
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    def task(self, workspace: Workspace, task: UUID) -> Task:
        """Return the task. Raises NotFound."""
        return self.once(("task", workspace.pk, task), lambda: task_get(workspace=workspace, task=task))

    def card(self, task: Task, principal: Principal) -> TaskCard:
        """Return the head of the page for somebody with these roles."""
        key = ("card", task.pk, task.head_seq, principal.roles, principal.scopes)
        return self.once(key, lambda: task_card(task=task, principal=principal))

    def head(self, task: Task, card: TaskCard) -> list[tuple[str, str]]:
        """Return the parts of the head that are the same for everybody."""
        context = {"task": task, "card": card, "oob": True}
        return self.once(
            ("head", task.pk, task.head_seq),
            lambda: [(name, render_to_string(f"tasks/_{name}.html", context)) for name in HEAD],
        )
