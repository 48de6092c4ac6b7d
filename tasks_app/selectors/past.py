"""A task as it was at a sequence: its events replayed as far as that, and rows made of what they say.

The rows are never saved. Of the past nobody knows when a task was due, or how many seconds it had spent: no event
says it.
"""

from dataclasses import dataclass
from datetime import datetime

from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_replayed

ALWAYS = ("id", "workspace_id", "owner_id", "parent_id", "is_copy", "created_at")  # a task's life long the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A task and its calls as of ``at``, the moment of the last event that was read."""

    task: Task
    calls: list[Call]
    at: datetime


def past_of(task: Task, *, seq: int) -> Past:
    """Return the task as of sequence ``seq``, which must exist."""
    state = task_replayed(task.pk, until=seq)
    columns = {name: value for name, value in state.task.items() if name != "tokens"}
    row = Task(**{name: getattr(task, name) for name in ALWAYS}, **columns, head_seq=seq)
    row.spent = {"tokens": state.task["tokens"]}
    calls = [Call(task=row, name=name, **columns) for name, columns in state.calls.items()]
    return Past(task=row, calls=calls, at=Event.objects.get(stream=task.pk, seq=seq).at)
