"""Reading tasks: lists by key, one task; another workspace's task is as unknown as one that never was."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from core.errors import InvalidInput, NotFound
from core.models import Workspace
from tasks_app.models import Call, Task
from tasks_app.status import Status

MOST_ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """What a list is narrowed to; an empty field narrows nothing.

    ``text``: part of the title, or the beginning of the id. ``label``: "name" or "name=value".
    ``owner``: a username. ``tool``: tasks that planned a call of it. ``since``, ``until``: when it was created.
    ``parent``: children of that task.
    """

    text: str = ""
    status: str = ""
    agent: str = ""
    label: str = ""
    owner: str = ""
    tool: str = ""
    since: datetime | None = None
    until: datetime | None = None
    parent: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """Rows, newest first; ``next`` is the key to pass as ``before`` for older ones, None at the end."""

    rows: list[Task]
    next: UUID | None


def task_list(
    *, workspace: Workspace, filters: TaskFilter | None = None, before: UUID | None = None, limit: int = 50
) -> TaskPage:
    """Return one page of a workspace's tasks, newest first. Raises InvalidInput for an unknown status."""
    limit = max(1, min(limit, MOST_ROWS))
    found = tasks_filtered(workspace=workspace, filters=filters or TaskFilter())
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(found.select_related("owner").order_by("-pk")[: limit + 1])
    return TaskPage(rows=rows[:limit], next=rows[limit - 1].pk if len(rows) > limit else None)


def task_get(*, workspace: Workspace, task: UUID) -> Task:
    """Return one task. Raises NotFound."""
    found = Task.objects.filter(workspace=workspace, pk=task).select_related("owner", "workspace").first()
    if found is None:
        raise NotFound
    return found


def tasks_filtered(*, workspace: Workspace, filters: TaskFilter) -> QuerySet[Task]:
    """Return the workspace's tasks that a filter leaves. Raises InvalidInput for an unknown status."""
    return _filtered(Task.objects.filter(workspace=workspace), filters)


def _filtered(found: QuerySet[Task], by: TaskFilter) -> QuerySet[Task]:
    if by.status and by.status not in set(Status):
        raise InvalidInput(f"There is no status {by.status!r}; known: {', '.join(Status)}.")
    exact = {"status": by.status, "agent": by.agent, "owner__username": by.owner, "parent": by.parent}
    within = {"created_at__gte": by.since, "created_at__lt": by.until}
    found = found.filter(**{name: value for name, value in (exact | within).items() if value})
    if by.tool:
        found = found.filter(Exists(Call.objects.filter(task=OuterRef("pk"), tool=by.tool)))
    if by.text:
        found = found.filter(_text(by.text))
    if by.label:
        name, _, value = by.label.partition("=")
        found = found.filter(labels__contains={name: value}) if value else found.filter(labels__has_key=name)
    return found


def _text(text: str) -> Q:
    text = text.replace("\x00", "")
    by_title = Q(title__icontains=text)
    beginning = text.replace("-", "").lower()
    if not 4 <= len(beginning) <= 32 or not set(beginning) <= set("0123456789abcdef"):
        return by_title
    least, most = (UUID(hex=beginning.ljust(32, digit)) for digit in "0f")
    return by_title | Q(pk__gte=least, pk__lte=most)
