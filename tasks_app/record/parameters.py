"""From what is to be appended to the shape of the statement and its parameters, in the statement's order.

All parameters but blobs are sent as text: the statement names their types, so that one shape is one prepared
statement whatever Python types a value happens to have.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from core.standstill import milliseconds
from tasks_app.record.changes import Admission, CallChange, Seq, Token
from tasks_app.record.events import After
from tasks_app.record.statement import (
    AFTER,
    AT_ONCE,
    CALL_COLUMNS,
    SEQ,
    TASK_COLUMNS,
    VALUE,
    CallsShape,
    Columns,
    Shape,
)
from tasks_app.record.stored import PreparedEvent

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode


def parameters(
    *,
    stream: UUID,
    events: Sequence[PreparedEvent],
    actor: str,
    token: Token | None = None,
    expected: int | None = None,
    task: Mapping[str, Any] | None = None,
    calls: Sequence[CallChange] = (),
    admission: Admission | None = None,
    after_end: bool = False,
    takes: bool = False,
    of_task: bool = True,
) -> tuple[Shape, list[Any]]:
    """Return the shape of an append and its parameters."""
    values: list[Any] = [stream.hex, actor, None if token is None else str(token.epoch)]
    if not of_task:
        values.append(milliseconds(settings.LEASE_SECONDS))
    if token is not None and not takes:
        values.append(token.nonce.hex)
    if expected is not None:
        values.append(str(expected))
    if admission is not None:
        values.append(admission.as_json())
    many = len(events) > AT_ONCE
    moments = _many(events, values) if many else _few(events, values)
    columns = _columns(task or {}, values)
    groups = _calls(calls, values) if calls else ()
    blobs = [blob for event in events for blob in event.blobs]
    if blobs:
        values += [[b.sha256 for b in blobs], [b.media_type for b in blobs], [b.content for b in blobs]]
    shape = Shape(
        task=of_task,
        fenced=token is not None and not takes,
        takes=takes,
        expected=expected is not None,
        admission=admission is not None,
        after_end=after_end,
        moments=moments,
        many=many,
        columns=columns,
        calls=groups,
        blobs=bool(blobs),
    )
    return shape, values


def _few(events: Sequence[PreparedEvent], values: list[Any]) -> tuple[tuple[str, ...], ...]:
    for event in events:
        values += [event.kind, event.text]
        if event.after:
            values += [str(seconds) for seconds in event.after.values()]
    return tuple(tuple(event.after) for event in events)


def _many(events: Sequence[PreparedEvent], values: list[Any]) -> tuple[tuple[str, ...], ...]:
    bodies = [f'{{"kind":"{e.kind}","data":{e.text},"after":{_encode(e.after)}}}' for e in events]
    values.append(f"[{','.join(bodies)}]")
    return ()


def _columns(task: Mapping[str, Any], values: list[Any]) -> Columns:
    columns = []
    for name, value in task.items():
        kind, plain = _split(value)
        columns.append((name, kind))
        values.append(_text(plain, TASK_COLUMNS[name]))
    return tuple(columns)


def _split(value: Any) -> tuple[str, Any]:
    if isinstance(value, After):
        return AFTER, value.seconds
    return (SEQ, value.ordinal) if isinstance(value, Seq) else (VALUE, value)


def _text(value: Any, cast: str) -> str | None:
    if value is None:
        return None
    if cast == "jsonb":
        return _encode(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _calls(calls: Sequence[CallChange], values: list[Any]) -> tuple[CallsShape, ...]:
    """Put calls with the same columns together; new ones that differ only in what they leave out as well."""
    groups: list[tuple[bool, dict[str, str], list[dict[str, Any]]]] = []
    for change in calls:
        kinds, row = _row(change)
        for new, known, rows in groups:
            if new == change.new and _fits(known, kinds, new):
                known.update(kinds)
                rows.append(row)
                break
        else:
            groups.append((change.new, kinds, [row]))
    shapes = []
    for new, kinds, rows in groups:
        alone = not new and len(rows) == 1
        shapes.append(CallsShape(new, tuple(kinds.items()), alone))
        if alone:
            values += [_text(rows[0][name], CALL_COLUMNS[name]) for name in kinds]
            values.append(rows[0]["call_name"])
        else:
            values.append(_encode(rows))
    return tuple(shapes)


def _row(change: CallChange) -> tuple[dict[str, str], dict[str, Any]]:
    split = {name: _split(value) for name, value in change.set.items()}
    row = {name: plain for name, (_, plain) in split.items()}
    kinds = {name: kind for name, (kind, _) in split.items()}
    if change.new:
        return kinds | {"name": VALUE}, row | {"name": change.name}
    return kinds, row | {"call_name": change.name}


def _fits(known: Mapping[str, str], kinds: Mapping[str, str], new: bool) -> bool:
    # An absent column of a new row is NULL either way; of a changed row it must stay as it is.
    return all(known.get(name, kind) == kind for name, kind in kinds.items()) if new else known == kinds
