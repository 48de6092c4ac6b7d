"""After the commit: the task is due work already (A03); a message only makes it quicker."""

from uuid import UUID

from core.boundaries import Boundary, Position, cross
from core.hints import after_commit, live_hint
from tasks_app.models import Task
from tasks_app.wake import wake


def task_wake(*, task: Task, call: str, seq: int) -> None:
    """Wake a task whose call was answered, and tell live pages. Neither may cost the answer (case-12)."""
    cross(Boundary.APPROVAL_WAKE_UP, Position.BEFORE, task=task.pk, call=call)
    stream: UUID = task.pk
    wake(stream)
    after_commit(lambda: live_hint(stream=stream, workspace=task.workspace_id, seq=seq))
