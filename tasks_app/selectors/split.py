"""Reading what a task's time was spent on, where its record is short enough to add up on each visit."""

from core.clock import database_now
from tasks_app.models import Event, Task
from tasks_app.timeline.split import KINDS, Share, time_split

LONGEST = 5000  # events; a longer record is not added up on a page


def task_split(task: Task) -> list[Share]:
    """Return the parts of a task's time; empty for a record that is too long."""
    if task.head_seq > LONGEST:
        return []
    facts = Event.objects.filter(stream=task.pk, kind__in=KINDS).only("kind", "data", "at").order_by("seq")
    return time_split(facts, created=task.created_at, until=task.ended_at or database_now())
