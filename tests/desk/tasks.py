"""Tasks as a worker moves them: created, claimed, parked for an approval, attempted; through the real record."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from approvals_app.gate import ApprovalsGate
from approvals_app.models import ApprovalRequest
from tasks_app.contracts import Contract
from tasks_app.gate import Admission
from tasks_app.models import Call, Event, Status, Task
from tasks_app.record.append import Appended, CallChange, Seq, Token, append
from tasks_app.record.events import (
    After,
    ApprovalDecided,
    CallAttempted,
    CallIntended,
    SliceClaimed,
    SliceReleased,
    TaskCreated,
)
from tasks_app.runtime.attempting import admission_of
from tasks_app.status import CallState
from tests.desk.people import Desk
from tests.desk.tools import CLEAN, Pay

GATE = ApprovalsGate()
_CALL_DEFAULTS = {field.attname: field.get_default() for field in Call._meta.concrete_fields if field.has_default()}


def task_create(desk: Desk, *, title: str = "Clean up") -> Task:
    """Create a task that owen started and owns."""
    task = Task.objects.create(
        workspace=desk.workspace, owner=desk.owen, agent="desk.agent", agent_version=1, title=title, intent={}
    )
    created = TaskCreated(
        workspace=str(desk.workspace.pk),
        owner="owen",
        agent="desk.agent",
        agent_version=1,
        code_digest="",
        title=title,
        intent={},
        done_when=[],
        labels={},
        budget={},
    )
    append(stream=task.pk, events=[created], actor="person:owen", task={"wake_at": After(0)})
    return task


def claim(task: Task, *, seconds: float = 60) -> Token:
    """Hold the task as a worker does."""
    task.refresh_from_db()
    token = Token(epoch=task.lease_epoch + 1, nonce=uuid4())
    append(
        stream=task.pk,
        events=[SliceClaimed(worker="w-1", nonce=str(token.nonce), host="h", pid=1, place="step 1")],
        actor="worker:w-1",
        task={
            "status": Status.RUNNING,
            "lease_holder": "w-1",
            "lease_epoch": token.epoch,
            "lease_nonce": str(token.nonce),
            "lease_until": After(seconds),
            "wake_at": None,
            "wait": None,
        },
    )
    return token


def propose(
    task: Task,
    contract: Contract,
    name: str,
    arguments: Mapping[str, Any],
    *,
    token: Token,
    ordinal: int = 0,
    reason: str = "It is full.",
) -> ApprovalRequest | None:
    """Intend a call, and ask for it where the gate says so, as one commit of the worker."""
    whole = contract.arguments.model_validate(arguments).model_dump()
    digest = hashlib.sha256(json.dumps([contract.name, contract.version, whole], sort_keys=True).encode()).hexdigest()
    with transaction.atomic():
        row = Task.objects.select_for_update().get(pk=task.pk)
        said = GATE.assess(task=row, contract=contract, arguments=whole)
        assert said.outcome in {"ask", "allow"}, said.reason
        asks = said.outcome == "ask"
        step = row.step + 1 if ordinal == 0 else row.step
        intended = CallIntended(
            name=name,
            step=step,
            ordinal=ordinal,
            tool=contract.name,
            contract_version=contract.version,
            schema_digest="s",
            effect_class=contract.effect_class,
            arguments=whole,
            digest=digest,
            key=f"{task.pk}/{step}/{ordinal}"[:64],
            policy={**said.policy, "outcome": said.outcome},
        )
        change = CallChange(
            name=name,
            new=True,
            set=_CALL_DEFAULTS
            | {
                "task_id": task.pk,
                "workspace_id": row.workspace_id,
                "step": step,
                "ordinal": ordinal,
                "tool": contract.name,
                "contract_version": contract.version,
                "effect_class": contract.effect_class,
                "digest": digest,
                "key": intended.key,
                "state": CallState.ASKED if asks else CallState.INTENDED,
                "intended_seq": Seq(1),
            },
        )
        asked = (
            GATE.request(
                task=row,
                call=change,
                contract=contract,
                arguments=whole,
                digest=digest,
                policy=said.policy,
                reason=reason,
            )
            if asks
            else ()
        )
        granted = any(isinstance(event, ApprovalDecided) for event in asked)
        if granted:
            change = CallChange(name=name, new=True, set={**change.set, "state": CallState.APPROVED})
        append(
            stream=task.pk,
            events=[intended, *asked],
            actor="worker:w-1",
            token=token,
            expected=row.head_seq,
            task={"step": step},
            calls=[change],
        )
    return ApprovalRequest.objects.filter(task=task, name=name).last()


def park(task: Task, token: Token, *, expected: int | None = None) -> Appended:
    """Let go of the task: it waits for a person and holds nothing."""
    return append(
        stream=task.pk,
        events=[SliceReleased(why="parked", worker="w-1")],
        actor="worker:w-1",
        token=token,
        expected=expected,
        task={
            "status": Status.WAITING,
            "wait": {"kind": "approval"},
            "lease_holder": "",
            "lease_nonce": None,
            "lease_until": None,
            "wake_at": None,
        },
    )


def parked(
    desk: Desk, contract: Contract = CLEAN, *, name: str = "clean", arguments: Mapping[str, Any] | None = None
) -> ApprovalRequest:
    """Return the request of a task that is parked for it."""
    task = task_create(desk)
    token = claim(task)
    given = arguments or ({"amount": "90.00"} if contract.arguments is Pay else {"path": "/scratch/a"})
    request = propose(task, contract, name, given, token=token)
    assert request is not None
    park(task, token)
    return request


def attempt(
    task_id: UUID,
    name: str,
    token: Token,
    *,
    contract: Contract = CLEAN,
    digest: str | None = None,
    first: bool | None = None,
) -> Admission:
    """T1 as the executor does it: lock the task, ask the gate, append the attempt or what became of the approval."""
    with transaction.atomic():
        task = Task.objects.select_for_update().get(pk=task_id)
        call = Call.objects.get(task=task, name=name)
        said = GATE.admit(
            task=task,
            call=call,
            contract=contract,
            digest=digest or call.digest,
            first=call.attempts == 0 if first is None else first,
        )
        events = list(said.events)
        if said.admitted:
            number = call.attempts + 1
            events.append(
                CallAttempted(
                    name=name,
                    attempt=number,
                    key=call.key,
                    send_by=After(2),
                    deadline=After(12),
                    under_approval=said.approval,
                )
            )
            changes = {"state": CallState.ATTEMPTED, "attempts": number}
        else:
            changes = {"state": said.call_state} if said.call_state else {}
        if events:
            append(
                stream=task.pk,
                events=events,
                actor="worker:w-1",
                token=token,
                expected=task.head_seq,
                calls=[CallChange(name=name, set=changes)] if changes else [],
                admission=admission_of([contract], None) if said.admitted else None,
            )
    return said


def kinds(task_id: UUID) -> list[str]:
    return list(Event.objects.filter(stream=task_id).order_by("seq").values_list("kind", flat=True))
