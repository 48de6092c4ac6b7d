"""The append once more, through the ORM: what the one raw statement must do, in the order in which it does it.

Not used in production (three times as slow); a test drives both with the same appends and compares what they leave
behind, so that the statement can be made faster without fear.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import DateTimeField, F, Func, JSONField, TextField, Value
from django.db.models.functions import Cast, JSONObject

from core.clock import database_now
from core.models import Workspace
from tasks_app.models import Blob, Call, Status, Task
from tasks_app.models import Event as EventRow
from tasks_app.record.append import Appended, Stale, StreamGone
from tasks_app.record.bodies import micros
from tasks_app.record.changes import Admission, CallChange, Seq, Token
from tasks_app.record.events import After, Event
from tasks_app.record.stored import PreparedEvent, event_prepare
from tasks_app.record.verifier import chain
from tasks_app.status import TERMINAL


@transaction.atomic
def append(
    *,
    stream: UUID,
    events: Sequence[Event],
    actor: str,
    token: Token | None = None,
    expected: int | None = None,
    task: Mapping[str, Any] | None = None,
    calls: Sequence[CallChange] = (),
    admission: Admission | None = None,
    after_end: bool = False,
    takes: bool = False,
) -> Appended:
    """Do what ``append.append`` does, with the same refusals."""
    if not events:
        raise ValueError("An append without events says nothing.")
    row = Task.objects.select_for_update().filter(pk=stream).first()
    if row is None:
        raise StreamGone(stream=str(stream))
    at = database_now()
    refusal = refusal_of(row, at, token=token, expected=expected, after_end=after_end, takes=takes)
    if refusal is None and admission is not None:
        refusal = "not running" if row.status != Status.RUNNING else _admission(row, admission)
    if refusal is not None:
        raise Stale(refusal=refusal, head_seq=row.head_seq, task_status=row.status, held_epoch=row.lease_epoch, at=at)
    digest = _events_insert(row, [event_prepare(event) for event in events], actor, token, at)
    resolved = _resolved(task or {}, row.head_seq, at)
    Task.objects.filter(pk=stream).update(head_seq=row.head_seq + len(events), head_digest=digest, **resolved)
    for change in calls:
        _call(stream, change, row.head_seq, at)
    return Appended(head_seq=row.head_seq + len(events), first_seq=row.head_seq + 1, at=at)


@transaction.atomic
def append_administration(*, workspace: UUID, events: Sequence[Event], actor: str) -> Appended:
    """Do what ``append.append_administration`` does."""
    row = Workspace.objects.select_for_update().filter(pk=workspace).first()
    if row is None:
        raise StreamGone(stream=str(workspace))
    at = database_now()
    digest = _events_insert(row, [event_prepare(event) for event in events], actor, None, at)
    Workspace.objects.filter(pk=workspace).update(head_seq=row.head_seq + len(events), head_digest=digest)
    return Appended(head_seq=row.head_seq + len(events), first_seq=row.head_seq + 1, at=at)


def refusal_of(
    row: Task, at: datetime, *, token: Token | None, expected: int | None, after_end: bool, takes: bool = False
) -> str | None:
    """Return why nothing may be appended, or None; the first reason in this order counts."""
    if row.status in TERMINAL and not after_end:
        return "ended"
    if takes and row.lease_nonce is not None:
        return "held"
    if token is not None and not takes and (row.lease_epoch, row.lease_nonce) != (token.epoch, token.nonce):
        return "fenced"
    if token is not None and not takes and row.lease_until is not None and row.lease_until <= at:
        return "expired"
    return "moved" if expected is not None and row.head_seq != expected else None


def _admission(row: Task, admission: Admission) -> str | None:
    wanted = Cast(Value(admission.as_json()), JSONField())
    asked = Func(F("workspace_id"), F("agent"), wanted, function="handrail_admission", output_field=TextField())
    answer: str | None = Task.objects.filter(pk=row.pk).values_list(asked, flat=True).get()
    return answer


def _events_insert(
    head: Task | Workspace, events: Sequence[PreparedEvent], actor: str, token: Token | None, at: datetime
) -> bytes:
    """Insert the events, each chained to the one before it; return the last digest."""
    digest, rows = bytes(head.head_digest), []
    for seq, event in enumerate(events, start=head.head_seq + 1):
        data = {**event.data, **_moments(head, event, at)}
        row = EventRow(
            stream=head.pk,
            seq=seq,
            kind=event.kind,
            data=data,
            actor=actor,
            epoch=token.epoch if token else None,
            at=at,
        )
        row.digest = digest = chain(digest, body_text(row), micros(at))
        rows.append(row)
    EventRow.objects.bulk_create(rows)
    parts = [part for event in events for part in event.blobs]
    Blob.objects.bulk_create(
        [
            Blob(stream=head.pk, sha256=p.sha256, size=p.size, media_type=p.media_type, content=p.content)
            for p in {p.sha256: p for p in parts}.values()
        ],
        ignore_conflicts=True,
    )
    return digest


def body_text(row: EventRow) -> str:
    """Return the canonical body of an event as the server spells it: the text of its jsonb."""
    body = JSONObject(
        stream=Value(str(row.stream)),
        seq=Value(row.seq),
        kind=Value(row.kind),
        actor=Value(row.actor),
        epoch=Value(row.epoch),
        data=Value(row.data, JSONField()),
    )
    text: str = Workspace.objects.values_list(Cast(Cast(body, JSONField()), TextField()), flat=True)[0]
    return text


def _moments(head: Task | Workspace, event: PreparedEvent, at: datetime) -> dict[str, str]:
    """Spell moments as the server does."""
    if not event.after:
        return {}
    moments = {name: Value(at + timedelta(seconds=s), DateTimeField()) for name, s in event.after.items()}
    spelled: dict[str, str] = type(head).objects.filter(pk=head.pk).values_list(JSONObject(**moments), flat=True)[0]
    return spelled


def _resolved(values: Mapping[str, Any], head_seq: int, at: datetime) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, After):
            resolved[name] = at + timedelta(seconds=value.seconds)
        else:
            resolved[name] = head_seq + value.ordinal if isinstance(value, Seq) else value
    return resolved


def _call(stream: UUID, change: CallChange, head_seq: int, at: datetime) -> None:
    values = _resolved(change.set, head_seq, at)
    if change.new:
        Call.objects.bulk_create([Call(name=change.name, **values)])
    else:
        Call.objects.filter(task=stream, name=change.name).update(**values)
