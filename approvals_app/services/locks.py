"""Row locks in the one order: task, then approval (rule 3). The clock is read after them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from approvals_app.models import ApprovalRequest
from core.clock import database_now
from core.errors import NotFound
from tasks_app.models import Task
from tasks_app.task_lock import tasks_locked


def approval_lock(approval: UUID) -> tuple[Task, ApprovalRequest, datetime]:
    """Lock a task and its approval; return both and the database's time. Raises NotFound."""
    return *rows_lock(approval), database_now()


def rows_lock(approval: UUID, *, columns: Sequence[str] = ()) -> tuple[Task, ApprovalRequest]:
    """Lock a task and its approval, for a caller who then reads the time with what else it asks. Raises NotFound.

    ``columns``: of the task, where it is known what is looked at.
    """
    # Who owns it is read with it: only the task's row is locked, and the owner is not changed by deciding.
    tasks = tasks_locked(of=("self",)).select_related("owner")
    task = (tasks.only(*columns) if columns else tasks).filter(approvals=approval).first()
    if task is None:
        raise NotFound("There is no such approval here, or you may not see it.")
    return task, ApprovalRequest.objects.select_for_update().get(pk=approval)


def overdue(request: ApprovalRequest, now: datetime) -> bool:
    """Whether the time to decide has passed."""
    return request.decide_by is not None and request.decide_by <= now


def too_old(request: ApprovalRequest, now: datetime) -> bool:
    """Whether an approval's must-run-by has passed."""
    return request.run_by is not None and request.run_by <= now
