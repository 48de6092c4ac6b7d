"""The row of a request, built in the transaction of ``approval.requested`` (A01)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import rfc8785
from django.contrib.auth.models import User

from approvals_app.deciders import task_parties
from approvals_app.digests import same_call_digest, schema_digest
from approvals_app.models import ApprovalRequest
from approvals_app.separation import parties
from approvals_app.services.caps import cap_check
from approvals_app.services.grants import grant_answer
from approvals_app.status import EVERYONE, OnExpiry, ReasonRule
from core.clock import database_now
from tasks_app.contracts import Contract
from tasks_app.models import Task
from tasks_app.record.append import Stale
from tasks_app.record.events import ApprovalRequested, Event
from tasks_app.status import TERMINAL, Status
from tasks_app.task_lock import tasks_locked

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
    replaces: ApprovalRequest | None = None,
    editor: User | None = None,
) -> tuple[Event, ...]:
    """Create the row of a call that needs a person; return the events to append in the same transaction.

    Where a standing grant covers the call, ``approval.decided`` follows ``approval.requested`` (rule 13). Deadlines
    come from the rule that asks, else from the contract, in seconds; times are the database's. Raises Stale for a
    task that is being cancelled or has ended (case-16), and for an agent that is over its cap.
    """
    locked = tasks_locked().get(pk=task.pk)
    now = database_now()
    if locked.status in TERMINAL | {Status.CANCELLING}:
        raise _stale(locked, "not running", now)
    if replaces is None and (over := cap_check(task=locked)):
        raise _stale(locked, over, now)
    within = policy.get("decide_within") or contract.decide_within
    kept = {
        **policy,
        "decide_within": within,
        "never": [*task_parties(locked), *_asked_again(policy), *_edited(editor)],
    }
    row = _row(locked, name, contract, arguments, digest, kept, now, replaces, editor)
    asked = ApprovalRequested(
        approval=str(row.pk),
        name=name,
        digest=digest,
        group=row.group,
        line=row.line,
        policy=kept,
        decide_by=row.decide_by.isoformat() if row.decide_by else None,
        run_within=row.run_within,
        reason=reason or None,
    )
    granted = grant_answer(request=row, task=locked, now=now)
    return (asked, granted) if granted else (asked,)


def _row(
    task: Task,
    name: str,
    contract: Contract,
    arguments: Mapping[str, Any],
    digest: str,
    kept: Mapping[str, Any],
    now: datetime,
    replaces: ApprovalRequest | None,
    editor: User | None,
) -> ApprovalRequest:
    return ApprovalRequest.objects.create(
        workspace_id=task.workspace_id,
        task=task,
        name=name,
        tool=contract.name,
        contract_version=contract.version,
        schema_digest=schema_digest(contract.arguments),
        digest=digest,
        same_call=same_call_digest(tool=contract.name, arguments=arguments),
        line=_line(contract, arguments),
        risk=contract.risk,
        policy=kept,
        agent=task.agent,
        size=len(rfc8785.dumps(dict(arguments))),
        requested_at=now,
        decide_by=now + timedelta(seconds=kept["decide_within"]),
        run_within=kept.get("run_within") or contract.run_within,
        replaces=replaces,
        editor=editor,
        **_demands(kept),
    )


def _demands(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "rule": str(kept.get("rule", "contract")),
        "rule_version": int(kept.get("version", 1)),
        "group": str(kept.get("group", EVERYONE)),
        "quorum": int(kept.get("quorum", 1)),
        "reason_rule": ReasonRule(kept.get("reason_rule", ReasonRule.NONE)),
        "on_expiry": OnExpiry(kept.get("on_expiry", OnExpiry.DENY)),
        "escalate_to": str(kept.get("escalate_to", "")),
        "step_up_within": kept.get("step_up_within"),
    }


def _asked_again(policy: Mapping[str, Any]) -> list[dict[str, str]]:
    """Whoever asks to run a call again is no second person, unless the rule lets them be."""
    asker = str(policy.get("asked_by", "")).removeprefix("person:")
    wanted = policy.get("second_person", True)
    return [{"user": asker, "why": "asked to run it again"}] if asker and wanted else []


def _edited(editor: User | None) -> list[dict[str, str]]:
    return parties(starter=None, owner="", editor=editor.get_username() if editor else None)


def _stale(task: Task, refusal: str, now: datetime) -> Stale:
    return Stale(refusal=refusal, head_seq=task.head_seq, task_status=task.status, held_epoch=task.lease_epoch, at=now)


def _line(contract: Contract, arguments: Mapping[str, Any]) -> str:
    """Return what will happen, in one line; a broken preview must not stop the question from being asked."""
    try:
        text = contract.preview(contract.arguments.model_validate(arguments)) if contract.preview else contract.doc
    except Exception as error:
        text = f"{contract.name} (its preview failed: {type(error).__name__})"
    first = (text.strip() or contract.name).split("\n")[0]
    return first if len(first) <= LONGEST_LINE else f"{first[: LONGEST_LINE - 1]}…"
