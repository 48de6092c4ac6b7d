"""An agent outside begins to execute a call: T1, under a lease that runs to the attempt's deadline (A04, A05)."""

import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.clock import database_now
from core.errors import Conflict, HandrailError, NotFound
from core.models import Workspace
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.execution_token import execution_nonce, execution_secret, execution_text
from tasks_app.external import EXTERNAL_HOLDER, external_contract
from tasks_app.gate import Admission, gate
from tasks_app.models import Call, Status, Task
from tasks_app.record.append import CallChange, Seq, Stale, Token, append
from tasks_app.record.events import After, CallOutcome, SliceClaimed
from tasks_app.runtime.attempting import SETTLED_BY_GATE, admission_of, attempt_event, attempt_values
from tasks_app.runtime.ready import SEND_SECONDS
from tasks_app.runtime.recorded import event_data
from tasks_app.services import intake
from tasks_app.services.command import Command, announce, command
from tasks_app.services.external_task import external_free, external_owned, when_free
from tasks_app.services.steer import refuse
from tasks_app.status import ATTEMPT_OPEN, OPEN, CallState

SHORTEST_KEY = 8  # characters


class GateWaiting(Conflict):
    """Nobody has decided this call yet; nothing was changed."""

    code = "gate-waiting"


class GateUsed(Conflict):
    """This call has been used already: it is executed once; do not execute it."""

    code = "gate-used"


class GateClosed(Conflict):
    """This call must not be executed."""

    code = "gate-closed"


class GateStopped(Conflict):
    """A stop or a limit keeps this call from being executed now; nothing was changed."""

    code = "gate-stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The right to execute one call once: exactly these arguments, until the deadline, under this token."""

    call: Call
    arguments: dict[str, Any]
    token: str
    deadline: datetime
    begin_within: float  # seconds in which the execution begins, or never
    seconds: float  # until the deadline; both from when the answer was made


def call_resolved(*, task: UUID, name: str) -> Call:
    """Return the call that the name stands for: an edited one resolves to its replacement. Raises NotFound."""
    row = Call.objects.filter(task=task, name=name).first()
    while row is not None and row.replaced_by:
        row = Call.objects.get(task=task, name=row.replaced_by)
    if row is None:
        raise NotFound
    return row


def external_use(*, workspace: Workspace, task: UUID, name: str, actor: str, use_key: str) -> Use:
    """Use a call that is ready: consume its approval, record the attempt, take the lease, all or nothing.

    ``use_key`` is the caller's own, new for each execution that it would begin: the same key again, because an answer
    was lost, has the same answer as long as the slice is held. Raises NotFound, Forbidden, InvalidInput, GateWaiting,
    GateUsed, GateClosed (with what closed it), GateStopped, GateBusy, NotNow.
    """
    if len(use_key) < SHORTEST_KEY or len(use_key) > intake.KEY_LIMIT or not use_key.isprintable():
        raise intake.field_error("use_key", f"must be {SHORTEST_KEY} to {intake.KEY_LIMIT} printable characters.")
    try:
        used = when_free(lambda: _use(workspace, task, name, actor, use_key))
    except Stale as stale:
        if stale.refusal.startswith(("stopped", "limit")):
            raise GateStopped(f"Not now: {stale.refusal}. Nothing was changed.") from stale
        raise
    if isinstance(used, HandrailError):
        raise used
    return used


def _use(workspace: Workspace, task: UUID, name: str, actor: str, use_key: str) -> Use | HandrailError:
    with command(workspace=workspace, task=task, actor=actor) as here:
        external_owned(here.task, actor)
        call = call_resolved(task=task, name=name)
        secret = execution_secret(task=task, name=call.name, actor=actor, use_key=use_key)
        if call.state == CallState.ATTEMPTED and here.task.lease_nonce == execution_nonce(secret):
            assert call.deadline is not None
            send_by = datetime.fromisoformat(event_data(task, call.attempted_seq or 0)["send_by"])
            return _made(here.task, call, secret, send_by, call.deadline, database_now())
        _usable(here.task, call)
        contract = registry.tool_find(call.tool, call.contract_version)
        if contract is None:
            raise GateClosed(f"{call.tool} version {call.contract_version} is not known here any more.")
        contract = external_contract(contract)
        before, here.task.status = here.task.status, Status.RUNNING  # what the claim in this transaction makes it
        admission = gate().admit(task=here.task, call=call, contract=contract, digest=call.digest, first=True)
        if not admission.admitted:
            here.task.status = before
            return _ended(here, call, admission)
        return _claim(here, call, contract, admission, secret)


def _usable(task: Task, call: Call) -> None:
    if call.state in ATTEMPT_OPEN or (call.attempts and call.state not in OPEN):
        raise GateUsed(f"The call {call.name!r} is {call.state}: it was used already.", state=call.state)
    if call.state not in OPEN:
        raise closed(call)
    if call.state == CallState.ASKED:
        raise GateWaiting(state=call.state)
    external_free(task)
    if task.status not in {Status.WAITING, Status.QUEUED}:
        raise refuse(task, "worked on", instead="Nothing starts in that state.")


def closed(call: Call) -> GateClosed:
    """Return what a caller is told of a call that will not run."""
    said = event_data(call.task_id, call.settled_seq) if call.settled_seq else {}
    reason = said.get("reason") or (said.get("error") or {}).get("reason") or ""
    detail = f"The call {call.name!r} is {call.state}: do not execute it. {reason}".strip()
    return GateClosed(detail, state=call.state, reason=reason or None)


def _ended(here: Command, call: Call, admission: Admission) -> HandrailError:
    """T1 refused: record what became of the approval, in this transaction, and say so."""
    if admission.call_state not in SETTLED_BY_GATE:
        return GateClosed(f"{admission.reason} Nothing was changed.", state=call.state)
    refused = CallOutcome(
        name=call.name,
        attempt=0,
        outcome="refused",
        error={"code": "not-admitted", "reason": admission.reason},
        sent=False,
    )
    over = {"answer_seq": Seq(1), "settled_seq": Seq(1), "holds_business_key": False}
    wakes = admission.events and here.task.status == Status.WAITING
    here.record(
        *(admission.events or (refused,)),
        task={"wake_at": After(0)} | ({"status": Status.QUEUED, "wait": None} if wakes else {}),
        calls=[CallChange(name=call.name, set={"state": admission.call_state, **over})],
        due=True,
    )
    return GateClosed(f"The call {call.name!r} must not be executed: {admission.reason}.", state=admission.call_state)


def _claim(here: Command, call: Call, contract: Contract, admission: Admission, secret: str) -> Use:
    task, now = here.task, database_now()
    token = Token(epoch=task.lease_epoch + 1, nonce=execution_nonce(secret))
    holder = f"{EXTERNAL_HOLDER}{task.agent}"[:120]
    lasts = SEND_SECONDS + contract.timeout
    # The fence and the status that the append compares; it is refused, or rolled back, as a whole.
    Task.objects.filter(pk=task.pk).update(
        status=Status.RUNNING,
        lease_holder=holder,
        lease_epoch=token.epoch,
        lease_nonce=token.nonce,
        lease_until=now + timedelta(seconds=lasts),
    )
    claimed = SliceClaimed(
        worker=holder, nonce=str(token.nonce), host=socket.gethostname(), pid=0, place=call.name[:200]
    )
    events = [claimed, *admission.events, attempt_event(call.name, 1, call.key, contract, admission.approval)]
    done = append(
        stream=task.pk,
        events=events,
        actor=here.actor,
        token=token,
        expected=task.head_seq,
        task={"status": Status.RUNNING, "wait": None, "wake_at": None, "lease_until": After(lasts)},
        calls=[CallChange(name=call.name, set=attempt_values(1, contract, token.epoch, Seq(len(events))))],
        admission=admission_of([contract], None),
    )
    announce(task=task.pk, workspace=task.workspace_id, seq=done.head_seq, due=False)
    task.lease_epoch = token.epoch
    send_by, deadline = (done.at + timedelta(seconds=one) for one in (SEND_SECONDS, lasts))
    return _made(task, call, secret, send_by, deadline, done.at)


def _made(task: Task, call: Call, secret: str, send_by: datetime, deadline: datetime, now: datetime) -> Use:
    return Use(
        call=call,
        arguments=event_data(task.pk, call.intended_seq)["arguments"],
        token=execution_text(epoch=task.lease_epoch, secret=secret),
        deadline=deadline,
        begin_within=max((send_by - now).total_seconds(), 0.0),
        seconds=max((deadline - now).total_seconds(), 0.0),
    )
