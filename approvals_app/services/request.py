"""The row of a request, built in the transaction of ``approval.requested`` (A01)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from approvals_app.deciders import task_parties
from approvals_app.digests import same_call_digest, schema_digest
from approvals_app.models import ApprovalRequest
from core.clock import database_now
from tasks_app.contracts import Contract
from tasks_app.models import Task
from tasks_app.record.append import Stale
from tasks_app.record.events import ApprovalRequested
from tasks_app.status import TERMINAL, Status

LONGEST_LINE = 500


def approval_request(
    *,
    task: Task,
    name: str,
    contract: Contract,
    arguments: Mapping[str, Any],
    digest: str,
    policy: Mapping[str, Any],
    reason: str,
) -> ApprovalRequested:
    """Create the row of a call that needs a person; return the event to append in the same transaction.

    Both deadlines' lengths come from the contract, in seconds; times are the database's. Raises Stale for a task
    that is being cancelled or has ended (case-16).
    """
    locked = Task.objects.select_for_update().get(pk=task.pk)
    now = database_now()
    if locked.status in TERMINAL | {Status.CANCELLING}:
        raise Stale(
            refusal="not running",
            head_seq=locked.head_seq,
            task_status=locked.status,
            held_epoch=locked.lease_epoch,
            at=now,
        )
    kept = {**policy, "never": task_parties(locked)}
    decide_by = now + timedelta(seconds=contract.decide_within)
    row = ApprovalRequest.objects.create(
        workspace_id=locked.workspace_id,
        task=locked,
        name=name,
        tool=contract.name,
        contract_version=contract.version,
        schema_digest=schema_digest(contract.arguments),
        digest=digest,
        same_call=same_call_digest(tool=contract.name, arguments=arguments),
        line=_line(contract, arguments),
        risk=contract.risk,
        group=str(policy.get("group", "approvers")),
        policy=kept,
        requested_at=now,
        decide_by=decide_by,
        run_within=contract.run_within,
    )
    return ApprovalRequested(
        approval=str(row.pk),
        name=name,
        digest=digest,
        group=row.group,
        line=row.line,
        policy=kept,
        decide_by=decide_by.isoformat(),
        run_within=contract.run_within,
        reason=reason or None,
    )


def _line(contract: Contract, arguments: Mapping[str, Any]) -> str:
    """Return what will happen, in one line; a broken preview must not stop the question from being asked."""
    try:
        text = contract.preview(contract.arguments.model_validate(arguments)) if contract.preview else contract.doc
    except Exception as error:
        text = f"{contract.name} (its preview failed: {type(error).__name__})"
    first = (text.strip() or contract.name).split("\n")[0]
    return first if len(first) <= LONGEST_LINE else f"{first[: LONGEST_LINE - 1]}…"
