"""Row locks in the one order: task, then approval (rule 3). The clock is read after them."""

from datetime import datetime
from uuid import UUID

from approvals_app.models import ApprovalRequest
from core.clock import database_now
from core.errors import NotFound
from tasks_app.models import Task


def approval_lock(approval: UUID) -> tuple[Task, ApprovalRequest, datetime]:
    """Lock a task and its approval; return both and the database's time. Raises NotFound."""
    task_id = ApprovalRequest.objects.filter(pk=approval).values_list("task_id", flat=True).first()
    if task_id is None:
        raise NotFound("There is no such approval here, or you may not see it.")
    task = Task.objects.select_for_update().get(pk=task_id)
    request = ApprovalRequest.objects.select_for_update().get(pk=approval)
    return task, request, database_now()


def overdue(request: ApprovalRequest, now: datetime) -> bool:
    """Whether the time to decide has passed."""
    return request.decide_by is not None and request.decide_by <= now


def too_old(request: ApprovalRequest, now: datetime) -> bool:
    """Whether an approval's must-run-by has passed."""
    return request.run_by is not None and request.run_by <= now
