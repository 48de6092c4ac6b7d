"""T1: the last look before a call acts, under the locks of task and approval (A04, A05, S3, S4)."""

from datetime import datetime

from approvals_app.deciders import counted, decider_refusal
from approvals_app.models import ApprovalRequest
from approvals_app.moments import Using, using_now
from approvals_app.services.close import request_close
from approvals_app.services.grants import grant_use
from approvals_app.services.locks import too_old
from approvals_app.services.stricter import allowed_reason, stricter_reason
from approvals_app.status import LIVE, Answer, ApprovalStatus
from approvals_app.tools import contract_change
from approvals_app.words import taken_sentence
from tasks_app.contracts import Contract
from tasks_app.gate import Admission
from tasks_app.models import Call, Event, Task
from tasks_app.record.events import ApprovalConsumed
from tasks_app.status import CallState, Status

# What an attempt that is admitted looks at; a refusal may read more of the row.
LOOKED_AT = (
    *("workspace", "task", "name", "tool", "contract_version", "schema_digest", "digest", "group", "policy", "quorum"),
    *("escalated_at", "grant", "status", "run_by", "decided_by", "decided_at"),
)


def call_admit(*, task: Task, call: Call, contract: Contract, digest: str, first: bool) -> Admission:
    """Admit an attempt and, if it is the first, use its approval up.

    The caller holds the task's lock and appends ``events`` with ``call.attempted`` (or, refused, with the call's
    change to ``call_state``) in this transaction. An empty ``call_state`` means: nothing changes, read again.
    """
    locked = ApprovalRequest.objects.select_for_update().only(*LOOKED_AT)
    request = locked.filter(task=task, name=call.name).order_by("pk").last()
    if request is None:
        return _without_request(task, call, contract, first)
    moment = using_now(request=request)
    if not first:
        refusal = _resend_refusal(task, request, digest, moment.now)
        return Admission(
            admitted=refusal is None,
            approval=str(request.pk),
            call_state=CallState.REFUSED if refusal else "",
            reason=refusal or "",
        )
    return _first(task, request, contract, digest, moment)


def _without_request(task: Task, call: Call, contract: Contract, first: bool) -> Admission:
    """Let a call run that nobody had to be asked about; what asked and left no row is refused.

    Its first attempt may come long after it was intended: what policy demands by now, nobody has answered.
    """
    intended = Event.objects.get(stream=task.pk, seq=call.intended_seq)
    policy = intended.data.get("policy") or {}
    if policy.get("outcome", "ask" if contract.needs_person else "allow") != "allow":
        return Admission(admitted=False, call_state=CallState.REFUSED, reason="No approval was asked for this call.")
    why = allowed_reason(task=task, intended=intended, contract=contract) if first else ""
    return Admission(admitted=not why, call_state=CallState.REFUSED if why else "", reason=why)


def _resend_refusal(task: Task, request: ApprovalRequest, digest: str, now: datetime) -> str | None:
    """Say why a resend does not stay under the used approval, or None; policy and rights are not asked again."""
    if request.status != ApprovalStatus.CONSUMED:
        return taken_sentence(request)
    if digest != request.digest:
        return "The call is not the one that was approved."
    if task.status != Status.RUNNING:
        return f"The task is {task.status}: nothing is sent again."
    return "Approved but too old: its must-run-by has passed, nothing is sent again." if too_old(request, now) else None


def _first(task: Task, request: ApprovalRequest, contract: Contract, digest: str, moment: Using) -> Admission:
    approval, now = str(request.pk), moment.now
    if request.status == ApprovalStatus.REQUESTED:
        return _refused(approval, CallState.ASKED, "Waits for a decision.")
    if request.status not in LIVE:
        # k workers, one approval: somebody else has used it, or it is gone; there is nothing to change here (A04).
        return _refused(approval, "", taken_sentence(request))
    if too_old(request, now):
        return _closed(request, ApprovalStatus.LAPSED, now, "approved but too old: not used before its must-run-by")
    why = _void_reason(task, request, contract, digest, moment)
    if why:
        return _closed(request, ApprovalStatus.VOIDED, now, why)
    if task.status != Status.RUNNING:
        return _refused(approval, "", f"The task is {task.status}: nothing starts.")
    if why := grant_use(request=request, now=now):
        return _closed(request, ApprovalStatus.VOIDED, now, why)
    used = ApprovalRequest.objects.filter(pk=request.pk, status=ApprovalStatus.APPROVED).update(
        status=ApprovalStatus.CONSUMED, consumed_at=now
    )
    if used != 1:
        return _refused(approval, "", "Somebody else has used this approval.")
    grant = str(request.grant_id) if request.grant_id else None
    event = ApprovalConsumed(approval=approval, name=request.name, digest=request.digest, grant=grant)
    return Admission(admitted=True, approval=approval, events=(event,))


def _void_reason(task: Task, request: ApprovalRequest, contract: Contract, digest: str, moment: Using) -> str | None:
    if digest != request.digest:
        return "the call is not the one that was approved"
    change = contract_change(request, contract)
    if change or request.decided_by_id is None:
        return change or "nobody stands behind the decision"
    if len(counted(request=request, task=task)) < request.quorum:
        return _fewer(task, request)
    return stricter_reason(task=task, request=request, contract=contract, moment=moment) or None


def _fewer(task: Task, request: ApprovalRequest) -> str:
    answers = request.answers.filter(answer=Answer.APPROVED).select_related("user")
    gone = [a.user.get_username() for a in answers if decider_refusal(request=request, task=task, user=a.user)]
    return f"{' and '.join(gone) or 'nobody'} may no longer decide this"


def _refused(approval: str, state: str, reason: str) -> Admission:
    return Admission(admitted=False, approval=approval, call_state=state, reason=reason)


def _closed(request: ApprovalRequest, to: ApprovalStatus, now: datetime, reason: str) -> Admission:
    event, state = request_close(request, to=to, now=now, reason=reason)
    return Admission(admitted=False, approval=str(request.pk), events=(event,), call_state=state, reason=reason)
