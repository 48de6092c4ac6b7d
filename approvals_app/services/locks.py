"""Row locks in the one order: task, then approval (rule 3). The clock is read after them."""

from datetime import datetime
from uuid import UUID

from approvals_app.models import ApprovalRequest
from core.clock import database_now
from core.errors import NotFound
from tasks_app.models import Task
from tasks_app.task_lock import tasks_locked


def approval_lock(approval: UUID) -> tuple[Task, ApprovalRequest, datetime]:
    """Lock a task and its approval; return both and the database's time. Raises NotFound."""
    # Who owns it is read with it: only the task's row is locked, and the owner is not changed by deciding.
    tasks = tasks_locked(of=("self",)).select_related("owner")
    task = tasks.filter(approvals=approval).first()
    if task is None:
        raise NotFound("There is no such approval here, or you may not see it.")
    request = ApprovalRequest.objects.select_for_update().get(pk=approval)
    return task, request, database_now()


def overdue(request: ApprovalRequest, now: datetime) -> bool:
    """Whether the time to decide has passed."""
    return request.decide_by is not None and request.decide_by <= now


def too_old(request: ApprovalRequest, now: datetime) -> bool:
    """Whether an approval's must-run-by has passed."""
    return request.run_by is not None and request.run_by <= now
