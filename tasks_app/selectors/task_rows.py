"""The rows of the task list: each with its owner and the time of its last event; and how many there are of each."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery

from core.models import Workspace
from tasks_app.models import Event, Task
from tasks_app.selectors.tasks import TaskFilter, TaskPage, tasks_filtered
from tasks_app.status import Status

ROWS = 50
MOST_NEW = 1000  # of newcomers that are counted
ENDING = 5  # events at the end of a record, among which its failure stands


def rows_page(
    *, workspace: Workspace, filters: TaskFilter, before: UUID | None = None, after: UUID | None = None
) -> tuple[TaskPage, bool]:
    """Return one page, newest first, and whether newer rows exist before it. Raises InvalidInput.

    ``before``: older than that task. ``after``: the page of the next newer ones (going back).
    """
    found = tasks_filtered(workspace=workspace, filters=filters)
    if after is not None:
        rows = list(rows_of(found.filter(pk__gt=after)).order_by("pk")[: ROWS + 1])
        newer, rows = len(rows) > ROWS, rows[:ROWS][::-1]
        return TaskPage(rows=rows, next=rows[-1].pk if rows else None), newer
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(rows_of(found).order_by("-pk")[: ROWS + 1])
    return TaskPage(rows=rows[:ROWS], next=rows[ROWS - 1].pk if len(rows) > ROWS else None), before is not None


def rows_again(*, workspace: Workspace, ids: Sequence[UUID]) -> list[Task]:
    """Return the same rows as they are now, whether they still fit the filter or not."""
    return list(rows_of(Task.objects.filter(workspace=workspace, pk__in=ids)).order_by("-pk"))


def newcomers_count(*, workspace: Workspace, filters: TaskFilter, rows: Sequence[UUID], end: UUID | None) -> int:
    """Count the tasks that the first page would show and a page does not: they fit and are none of its ``rows``.

    ``end``: what its last row was, None where no more followed. Not by what is newer than its first row: ids commit out
    of order, and an old task may fit a filter since.
    """
    found = tasks_filtered(workspace=workspace, filters=filters).exclude(pk__in=rows)
    return (found.filter(pk__gt=end) if end else found)[:MOST_NEW].count()


def status_counts(*, workspace: Workspace) -> dict[str, int]:
    """Count a workspace's tasks by status, in the order of the life of a task."""
    rows = Task.objects.filter(workspace=workspace).values_list("status").annotate(count=Count("pk"))
    counted = dict(rows)
    return {status.value: counted[status] for status in Status if status in counted}


def agents_used(*, workspace: Workspace) -> list[str]:
    """List the agents that a workspace's tasks have, for the filter."""
    return list(Task.objects.filter(workspace=workspace).order_by("agent").values_list("agent", flat=True).distinct())


def rows_of(found: QuerySet[Task]) -> QuerySet[Task]:
    """Add what a row of a list shows: the owner, when the task last changed, and why it failed."""
    last = Event.objects.filter(stream=OuterRef("pk"), seq=OuterRef("head_seq"))
    # The work session that said so may have closed after it, within a few events.
    ends = Event.objects.filter(stream=OuterRef("pk"), seq__gt=OuterRef("head_seq") - ENDING, kind="task.failed")
    why = ends.order_by("-seq").values("data__reason")
    times = {"updated_at": Subquery(last.values("at")[:1]), "failed_because": Subquery(why[:1])}
    return found.select_related("owner").annotate(**times)
