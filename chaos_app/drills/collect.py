"""What a case leaves behind, brought together: the record, the outside count, who ran it."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from chaos_app.drills.barrier import Post
from chaos_app.drills.catalogue import system_of_key
from chaos_app.drills.copies import COPY
from chaos_app.drills.evidence import Arrival, Effect, Event, Lane, LateWrite, TaskRecord, Witness
from chaos_app.world.client import WorldClient
from core.clock import database_now
from tasks_app.models import Event as EventRow
from tasks_app.models import LateWrite as LateRow
from tasks_app.models import Task
from tasks_app.record.verify import stream_verify
from tasks_app.workers import loss_limit

LOSSES = 3  # of an agent that says nothing else


def records(case: str) -> tuple[TaskRecord, ...]:
    """Return the tasks of a case as the database holds them, the main one first."""
    mine = Q(intent__case=case) | Q(labels__drill=case) | Q(parent__labels__drill=case)
    rows = Task.objects.filter(mine).select_related("owner").order_by("parent_id", "created_at", "id")
    ordered = sorted(rows, key=lambda row: row.parent_id is not None)
    return tuple(_record(row, ordered) for row in ordered)


def _record(row: Task, rows: Sequence[Task]) -> TaskRecord:
    events = EventRow.objects.filter(stream=row.pk).order_by("seq")
    return TaskRecord(
        task=str(row.pk),
        role=_role(row, rows),
        status=row.status,
        events=tuple(
            Event(seq=one.seq, kind=one.kind, data=one.data, at=one.at.timestamp(), epoch=one.epoch, actor=one.actor)
            for one in events
        ),
        wait=row.wait,
        lease_live=row.lease_until is not None and row.lease_until > database_now(),
        losses=row.losses,
        loss_limit=loss_limit(agent=row.agent) or LOSSES,
        owner=row.owner.get_username(),
        head_seq=row.head_seq,
        late_writes=tuple(
            LateWrite(
                at=one.at.timestamp(),
                kind=one.kind,
                presented_epoch=one.presented_epoch,
                actor=one.actor,
                data=one.data,
            )
            for one in LateRow.objects.filter(stream=row.pk).order_by("pk")
        ),
        chain=tuple(stream_verify(row.pk).problems),
    )


def _role(row: Task, rows: Sequence[Task]) -> str:
    if row.is_copy:
        return COPY
    if row.parent_id is None:
        return "task"
    parent = next((one for one in rows if one.pk == row.parent_id), None)
    named = (parent.child_tasks if parent else {}).items()
    return next((name for name, entry in named if entry.get("child") == str(row.pk)), str(row.pk))


def witness(client: WorldClient, tasks: Iterable[TaskRecord], business_keys: Iterable[str]) -> Witness:
    """Return what the outside has counted of a case: by call, and by the marks of its acts."""
    arrivals: dict[int, Any] = {}
    effects: dict[tuple[Any, ...], Any] = {}
    said: list[str] = []
    for filters in _filters(tasks, business_keys):
        ledger = client.ledger(**filters)
        arrivals |= {one.id: one for one in ledger.arrivals}
        effects |= {(one.system, one.id, one.reference, one.item): one for one in ledger.effects}
        said += ledger.disagreements
    return Witness(
        arrivals=tuple(_arrival(one) for _, one in sorted(arrivals.items())),
        effects=tuple(_effect(one) for one in sorted(effects.values(), key=lambda one: one.at)),
        disagreements=tuple(dict.fromkeys(said)),
    )


def _filters(tasks: Iterable[TaskRecord], business_keys: Iterable[str]) -> list[dict[str, str]]:
    calls = {
        f"{task.task}/{event.data['name']}" for task in tasks for event in task.events if event.kind == "call.intended"
    }
    systems = sorted({system_of_key(key) for key in business_keys})
    wanted = [("call", call) for call in sorted(calls)] + [("business_key", key) for key in sorted(business_keys)]
    return [{name: value, "system": system} for name, value in wanted for system in systems]


def _arrival(one: Any) -> Arrival:
    names = ("id", "at", "system", "operation", "acts", "key", "call", "attempt", "business_key", "status")
    more = ("ended", "ended_at", "applied_at", "replayed", "fault")
    return Arrival(**{name: getattr(one, name) for name in (*names, *more)})


def _effect(one: Any) -> Effect:
    names = ("at", "system", "operation", "reference", "key", "call", "business_key", "item", "arrival")
    return Effect(**{name: getattr(one, name) for name in (*names, "planted", "late")})


def lanes(tasks: Iterable[TaskRecord], post: Post) -> tuple[Lane, ...]:
    """Return who ran the case: each process that claimed one of its tasks, and the people's."""
    claimed: dict[tuple[str, int | None], list[int]] = {}
    for task in tasks:
        for event in task.events:
            if event.kind == "slice.claimed":
                who = (str(event.data.get("worker", "")), event.data.get("pid"))
                claimed.setdefault(who, []).append(event.epoch or 0)
    workers = [Lane(worker=name, pid=pid, epochs=tuple(epochs)) for (name, pid), epochs in claimed.items()]
    known = {lane.pid for lane in workers}
    others = {one.report.pid for one in post.crossed} - known
    return (
        *workers,
        *(Lane(worker="a person's process, or one that claimed nothing", pid=pid) for pid in sorted(others)),
    )


def main_task(tasks: Sequence[TaskRecord]) -> UUID | None:
    """Return the main task's id."""
    return UUID(tasks[0].task) if tasks else None
