"""Deadlines that pass while nobody looks: a finder for the sweeper (case-14 c, rule 4)."""

from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q

from approvals_app.models import ApprovalRequest
from approvals_app.services.close import request_close_and_append
from approvals_app.services.locks import approval_lock, too_old
from approvals_app.services.overdue import deadline_pass
from approvals_app.services.woken import task_wake
from approvals_app.status import ApprovalStatus
from approvals_app.tools import tool_change
from core.clock import ClockTimestamp
from core.row_by_row import row_by_row
from tasks_app.models import Task
from tasks_app.status import TERMINAL

log = structlog.get_logger(__name__)

BATCH = 200


def approvals_expire(now: datetime | None = None) -> int:
    """Do what the rules say where nobody decided in time, and lapse what was not used in time; return how many.

    ``now`` only narrows what is looked at; each row is compared with the database's clock under its locks, so that
    two sweepers and a person who decides meanwhile end in one of the two, never both (R02).
    """
    moment = now or ClockTimestamp()
    due = Q(status=ApprovalStatus.REQUESTED, decide_by__lte=moment) | Q(
        status=ApprovalStatus.APPROVED, run_by__lte=moment
    )
    ids = ApprovalRequest.objects.filter(due).order_by("pk").values_list("pk", flat=True)[:BATCH]
    return row_by_row(ids, _end)


def approvals_void_changed() -> int:
    """Void what asks about a tool that no longer exists in that form (case-11, variant 2); return how many."""
    waiting = ApprovalRequest.objects.filter(status=ApprovalStatus.REQUESTED)
    form = ("tool", "contract_version", "schema_digest")
    changed = [one for one in waiting.order_by(*form).distinct(*form) if tool_change(one)]
    alike = [waiting.filter(**{field: getattr(one, field) for field in form}).order_by("pk") for one in changed]
    return sum(row_by_row(rows.values_list("pk", flat=True)[:BATCH], _end) for rows in alike)


def _end(approval: UUID) -> bool:
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        seq = _pass(task, request, now)
        if seq is None:
            return False
    log.info("approval_ended", action=f"approval.{request.status}", task_id=str(task.pk), seq=seq)
    task_wake(task=task, call=request.name, seq=seq)
    return True


def _pass(task: Task, request: ApprovalRequest, now: datetime) -> int | None:
    if request.status == ApprovalStatus.APPROVED and too_old(request, now):
        why = "approved but too old: not used before its must-run-by"
        return request_close_and_append(task, request, to=ApprovalStatus.LAPSED, now=now, reason=why, actor="sweeper")
    if task.status in TERMINAL:
        return None
    passed = deadline_pass(task=task, request=request, now=now, actor="sweeper")
    return passed.seq if passed else None
