"""Editing a proposal makes a new call: its own digest, its own request, a quorum that starts anew (rule 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from approvals_app.changes import task_wakes
from approvals_app.deciders import editor_refusal, reader_check
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.record import intended_of, reason_of
from approvals_app.services.close import request_close
from approvals_app.services.locks import approval_lock
from approvals_app.services.overdue import deadline_pass
from approvals_app.services.request import approval_request
from approvals_app.services.woken import task_wake
from approvals_app.status import ApprovalStatus, Outcome, Via
from approvals_app.tools import contract_change
from approvals_app.words import taken_sentence
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.principal import Principal
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.decisions import Call as CallDecision
from tasks_app.gate import Assessment
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange, Seq, append
from tasks_app.record.events import CallWithdrawn
from tasks_app.runtime.intending import CannotIntend, Intended, call_intend
from tasks_app.services.again import free_name
from tasks_app.status import TERMINAL, CallState, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """An edit, fixed but not yet recorded."""

    intended: Intended
    reason: str
    editor: User


def approval_edit(
    *, approval: UUID, principal: Principal, arguments: Mapping[str, Any], reason: str, digest: str, via: Via
) -> ApprovalRequest:
    """Put changed arguments in the place of a proposal that waits; return the request for the new call.

    Only fields that the contract lists (``editable``) may differ; ``arguments`` are the whole of them, or the changed
    ones. They are validated by the contract's schema, policy runs on them, and whoever edits never counts towards the
    new quorum. The agent's own version is withdrawn and stays readable. Raises NotFound, Forbidden, InvalidInput
    (``errors``: field, reason), Conflict (not waiting any more, another digest, refused by policy).
    """
    found = ApprovalRequest.objects.select_related("task", "task__workspace", "task__owner").filter(pk=approval).first()
    if found is None:
        raise NotFound("There is no such approval here, or you may not see it.")
    _check(found, principal)
    if found.status != ApprovalStatus.REQUESTED:
        raise Conflict(taken_sentence(found), state=found.status)
    edit = _prepare(found, principal.user, arguments, reason)  # a precondition's seen version is read from the world
    with transaction.atomic(durable=True):
        task, request, now = approval_lock(approval)
        _check(request, principal)
        _still_asked(task, request, digest)
        passed = deadline_pass(task=task, request=request, now=now, actor="system")
        new, seq = (None, passed.seq) if passed and not passed.waits_on else _record(task, request, edit, now, via)
    task_wake(task=task, call=request.name, seq=seq)
    if new is None:
        raise Conflict(taken_sentence(request), state=request.status)
    return new


def _check(request: ApprovalRequest, principal: Principal) -> None:
    reader_check(request=request, principal=principal)
    refusal = editor_refusal(request=request, principal=principal)
    if refusal:
        raise Forbidden(f"{refusal} Nothing was changed.")


def _prepare(request: ApprovalRequest, editor: User, arguments: Mapping[str, Any], reason: str) -> _Edit:
    if not reason.strip():
        raise InvalidInput("Say why you change it: the agent reads it. Nothing was changed.")
    contract = registry.tool_newest(request.tool)
    change = contract_change(request, contract) if contract else f"this process carries no tool {request.tool}"
    if contract is None or change:
        raise Conflict(f"The call cannot be edited: {change}. Nothing was changed.", state=request.status)
    call = Call.objects.get(task=request.task_id, name=request.name)
    merged = _merged(contract, intended_of(request)["arguments"], arguments)
    return _Edit(intended=_intend(request, call, merged), reason=reason.strip(), editor=editor)


def _merged(contract: Contract, proposed: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    changed = {name for name, value in given.items() if name not in proposed or not _same(proposed[name], value)}
    locked = sorted(changed - contract.editable)
    if locked:
        errors = [{"field": name, "reason": f"{contract.name} lets nobody change it."} for name in locked]
        raise InvalidInput("Some of these fields may not be changed; nothing was changed.", errors=errors)
    if not changed:
        raise InvalidInput("Nothing differs from what is proposed; nothing was changed.")
    return {**proposed, **{name: given[name] for name in changed}}


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _intend(request: ApprovalRequest, call: Call, arguments: Mapping[str, Any]) -> Intended:
    names = dict(Call.objects.filter(task=request.task_id).values_list("name", "state"))
    ordinal = Call.objects.filter(task=request.task_id, step=call.step).count()
    name = free_name(call.name.partition(" #")[0], set(names))
    decided = CallDecision(tool=call.tool, name=name, arguments=arguments, note=reason_of(request))
    try:
        intended = call_intend(
            decided, task=request.task, step=call.step, ordinal=ordinal, names=names, replaces=call.name
        )
    except CannotIntend as refusal:
        errors = refusal.refusal.get("fields", [{"field": "arguments", "reason": str(refusal)}])
        raise InvalidInput(f"{refusal} Nothing was changed.", errors=errors) from refusal
    if intended.event.digest == request.digest:
        raise InvalidInput("Nothing differs from what is proposed; nothing was changed.")
    if intended.assessment.outcome == Outcome.DENY:
        raise Conflict(f"{intended.assessment.reason} Nothing was changed.", state=request.status)
    # Whatever policy says of such a call, one that a person has changed is decided by another person.
    policy = {**intended.assessment.policy, "outcome": Outcome.ASK}
    return replace(intended, assessment=Assessment(outcome=Outcome.ASK, policy=policy))


def _still_asked(task: Task, request: ApprovalRequest, digest: str) -> None:
    if request.status != ApprovalStatus.REQUESTED or task.status in TERMINAL | {Status.CANCELLING}:
        raise Conflict(taken_sentence(request), state=request.status)
    if digest != request.digest:
        raise Conflict(
            "What was sent is not the call that is asked for: read the card again, then edit. Nothing was changed.",
            state=request.status,
            digest=request.digest,
        )


def _record(task: Task, request: ApprovalRequest, edit: _Edit, now: datetime, via: Via) -> tuple[ApprovalRequest, int]:
    """Withdraw the proposal, then intend and ask for the new call; in this order, so that a business key is free."""
    actor, intended = f"person:{edit.editor.get_username()}", edit.intended
    new_name = intended.event.name
    why = f"edited by {edit.editor.get_username()} ({via}): {edit.reason}"
    voided, _ = request_close(request, to=ApprovalStatus.VOIDED, now=now, reason=f"{why}; see {new_name!r}")
    withdrawn = {"state": CallState.WITHDRAWN, "holds_business_key": False, "replaced_by": new_name}
    append(
        stream=task.pk,
        events=[CallWithdrawn(name=request.name, reason=why, replaced_by=new_name), voided],
        actor=actor,
        task=task_wakes(task.status),
        calls=[CallChange(name=request.name, set={**withdrawn, "settled_seq": Seq(1), "answer_seq": Seq(1)})],
    )
    task.refresh_from_db()
    change = intended.change(task, seq=Seq(1), state=CallState.ASKED)
    asked = approval_request(
        task=task,
        name=new_name,
        contract=intended.contract,
        arguments=intended.event.arguments,
        digest=intended.event.digest,
        policy=intended.assessment.policy,
        reason=intended.note,
        replaces=request,
        editor=edit.editor,
    )
    done = append(stream=task.pk, events=[intended.with_policy(), *asked], actor=actor, calls=[change])
    return ApprovalRequest.objects.get(replaces=request), done.head_seq
