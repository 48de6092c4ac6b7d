"""Tasks and calls in a given state, put into the record the way the runtime would."""

from typing import Any

from django.contrib.auth.models import User

import tests.agents  # noqa: F401 - declares the agents
from core.models import Workspace
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange, Seq, append
from tasks_app.record.events import After, CallAttempted, CallInDoubt, CallIntended, Event
from tasks_app.services.create import task_create
from tasks_app.status import CallState

WORKER = "worker:test"


def new_task(workspace: Workspace, owner: User, **more: Any) -> Task:
    arguments: dict[str, Any] = {"agent": "test.free", "intent": {}} | more
    return task_create(workspace=workspace, owner=owner, actor=f"person:{owner.username}", **arguments)


def task_set(task: Task, *events: Event, **columns: Any) -> Task:
    """Append events (a note of the test's own if none) with these values of the task row."""
    from tasks_app.record.events import ContextSelected

    note = ContextSelected(step=0, ask=0, model="test", added=[], dropped=[], reserved_tokens=0)
    append(stream=task.id, events=list(events) or [note], actor=WORKER, task=columns)
    return Task.objects.get(pk=task.id)


def leased(task: Task, **columns: Any) -> Task:
    from uuid import uuid4

    lease = {"lease_holder": "w", "lease_epoch": 1, "lease_nonce": str(uuid4()), "lease_until": After(30)}
    return task_set(task, wake_at=None, **({"status": "running"} | lease | columns))


def call_in(
    task: Task, name: str, state: CallState, *, deadline: float = -10.0, not_before: float | None = None, **more: Any
) -> Call:
    """Put a call into a state. ``deadline``, ``not_before``: seconds from now (negative: in the past)."""
    ordinal, check = Call.objects.filter(task=task).count(), more.pop("check", "look")
    fixed: dict[str, Any] = {
        "name": name,
        "step": 1,
        "ordinal": ordinal,
        "tool": "ledger.pay",
        "contract_version": 1,
        "effect_class": "opaque",
        "digest": "d" * 64,
        "key": f"key-{name}",
    }
    events: list[Event] = [CallIntended(**fixed, schema_digest="s" * 64, arguments={"cents": 100})]
    row = fixed | {
        "task_id": str(task.id),
        "workspace_id": str(task.workspace_id),
        "holds_business_key": more.get("business_key") is not None,
        "state": state,
        "attempts": 0,
        "maybe_applied": False,
        "look_first": False,
        "look_ups": 0,
        "reference": "",
        "resource": "",
        "handle": "",
        "replaced_by": "",
        "intended_seq": Seq(1),
    }
    if state in {CallState.ATTEMPTED, CallState.UNKNOWN, CallState.IN_DOUBT, CallState.OK}:
        events.append(
            CallAttempted(name=name, attempt=1, key=fixed["key"], send_by=After(deadline), deadline=After(deadline))
        )
        row |= {"attempts": 1, "attempted_seq": Seq(2), "deadline": After(deadline)}
    if state == CallState.IN_DOUBT:
        moment = After(not_before) if not_before is not None else None
        events.append(CallInDoubt(name=name, rule="E03", reason="nobody can tell", check=check, not_before=moment))
    append(stream=task.id, events=events, actor=WORKER, calls=[CallChange(name=name, new=True, set=row | more)])
    return Call.objects.get(task=task, name=name)


def kinds(task: Task) -> list[str]:
    from tasks_app.models import Event as Row

    return list(Row.objects.filter(stream=task.id).order_by("seq").values_list("kind", flat=True))
