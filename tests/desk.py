"""A desk for tests: people with rights, tools that ask, and tasks parked for approval through the real record."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import BaseModel

from approvals_app.gate import ApprovalsGate
from approvals_app.models import ApprovalRequest, ApproverGroup, PolicyRule
from approvals_app.policy import Demand
from approvals_app.services.decide import approval_decide
from approvals_app.services.policy import group_set, rule_write
from approvals_app.status import Answer, Outcome, Via
from core.access import Role
from core.models import Membership, Workspace
from core.principal import Principal
from tasks_app import registry
from tasks_app.contracts import Answer as ToolAnswer
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
from tasks_app.services.cancel import task_cancel
from tasks_app.status import CallState
from tests.here import HERE

GATE = ApprovalsGate()
_CALL_DEFAULTS = {field.attname: field.get_default() for field in Call._meta.concrete_fields if field.has_default()}


class Clean(BaseModel):
    path: str
    deep: bool = False


class Pay(BaseModel):
    amount: str
    to: str = "acme"


def _answer(args: Any, context: Any) -> ToolAnswer:
    return ToolAnswer(result="done")


CLEAN = Contract(
    name="desk.clean",
    version=1,
    arguments=Clean,
    effect_class="keyed",
    execute=_answer,
    **HERE,
    asks=True,
    preview=lambda args: f"Remove everything below {args.path}",
)
PAY = Contract(
    name="desk.pay",
    version=1,
    arguments=Pay,
    effect_class="opaque",
    execute=_answer,
    **HERE,
    risk="high",
    preview=lambda args: f"Pay {args.amount} to {args.to}",
)
SCAN = Contract(name="desk.scan", version=1, arguments=Clean, effect_class="none", execute=_answer, **HERE)
MOVE = Contract(
    name="desk.move",
    version=1,
    arguments=Pay,
    effect_class="keyed",
    execute=_answer,
    **HERE,
    asks=True,
    editable=frozenset({"amount"}),
    preview=lambda args: f"Move {args.amount} to {args.to}",
)
HUSH = Contract(name="desk.hush", version=1, arguments=Clean, effect_class="keyed", execute=_answer, **HERE)
for _contract in (CLEAN, PAY, SCAN, MOVE, HUSH):
    registry.tool_register(_contract)


@dataclass(frozen=True)
class Desk:
    """``rhea`` and ``silas`` decide, ``owen`` owns the tasks (and may decide others), ``vera`` looks, ``tobin`` is
    from another workspace."""

    workspace: Workspace
    rhea: User
    silas: User
    owen: User
    vera: User
    tobin: User


def desk_create() -> Desk:
    ours = Workspace.objects.create(slug="alder", name="Alder")
    other = Workspace.objects.create(slug="birch", name="Birch")
    return Desk(
        workspace=ours,
        rhea=_person("rhea", ours, Role.APPROVER),
        silas=_person("silas", ours, Role.APPROVER, Role.OPERATOR),
        owen=_person("owen", ours, Role.APPROVER, Role.OPERATOR),
        vera=_person("vera", ours, Role.VIEWER),
        tobin=_person("tobin", other, *Role),
    )


def _person(name: str, workspace: Workspace, *roles: Role) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    Membership.objects.bulk_create([Membership(user=user, workspace=workspace, role=role) for role in roles])
    return user


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
        said = GATE.assess(task=row, contract=contract, arguments=whole, cost=None)
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


def as_person(user: User, workspace: Workspace, **more: Any) -> Principal:
    roles = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return Principal(user=user, workspace=workspace, roles=frozenset(map(Role, roles)), **more)


def decide(
    request: ApprovalRequest,
    user: User,
    decision: Answer = Answer.APPROVED,
    *,
    reason: str = "",
    digest: str | None = None,
    **more: Any,
) -> Any:
    return approval_decide(
        approval=request.pk,
        principal=as_person(user, request.workspace, **more),
        decision=decision,
        reason=reason,
        digest=request.digest if digest is None else digest,
        via=Via.API,
    )


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
            )
    return said


def group(desk: Desk, name: str, *members: User) -> ApproverGroup:
    """Make a group that rules may ask."""
    return group_set(workspace=desk.workspace, name=name, members=members, actor="person:ada")


def rule(
    desk: Desk, name: str, condition: str, outcome: Outcome = Outcome.ASK, *, position: int = 100, **more: Any
) -> PolicyRule:
    """Write a rule, or its next version. ``shadow``, or what it demands."""
    shadow = more.pop("shadow", False)
    return rule_write(
        workspace=desk.workspace,
        name=name,
        condition=condition,
        demand=Demand(outcome=outcome, **more),
        position=position,
        shadow=shadow,
        actor="person:ada",
    )


def cancel(task_id: UUID, *, actor: str = "person:silas") -> None:
    """Cancel a task as an operator does: its approvals go in the same transaction (rule 10)."""
    task = Task.objects.select_related("workspace").get(pk=task_id)
    task_cancel(workspace=task.workspace, task=task_id, actor=actor, reason="not needed")


def kinds(task_id: UUID) -> list[str]:
    return list(Event.objects.filter(stream=task_id).order_by("seq").values_list("kind", flat=True))
