"""``append()``: the only writer of history."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from core.errors import Conflict
from tasks_app.record.events import After, Event
from tasks_app.record.payload import BlobPart
from tasks_app.record.statement import TASK_STATEMENT, WORKSPACE_STATEMENT
from tasks_app.record.stored import PreparedEvent, event_prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A fencing token: new for every acquisition, compared in every append, renewal and release."""

    epoch: int
    nonce: UUID


@dataclass(frozen=True, slots=True)
class Seq:
    """In a change of a row: the sequence that the n-th event of this append (from 1) will get."""

    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """A new or changed ``call`` row. Values may be ``After`` (a moment) or ``Seq`` (a sequence)."""

    name: str
    new: bool = False
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What an attempt is conditional on besides the token: no stop switch, limits of calls at once.

    ``attempts``: {tool: how many}; limits are None for "no limit".
    """

    attempts: Mapping[str, int]
    tool_limits: Mapping[str, int] = field(default_factory=dict)
    agent_limit: int | None = None

    def as_json(self) -> str:
        """Return the argument of ``handrail_admission``."""
        return json.dumps(
            {"attempts": dict(self.attempts), "tool_limits": dict(self.tool_limits), "agent_limit": self.agent_limit}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What an append did: the new head, the sequences of its events, the database's time."""

    head_seq: int
    first_seq: int
    at: datetime


class Stale(Conflict):
    """The record moved on, or the right to write to it is gone; nothing was appended."""

    code = "stale"

    def __init__(
        self, *, refusal: str, head_seq: int, task_status: str | None, held_epoch: int | None, at: datetime
    ) -> None:
        self.refusal, self.head_seq, self.task_status = refusal, head_seq, task_status
        self.held_epoch, self.at = held_epoch, at
        super().__init__(f"Nothing was appended: {refusal}.", refusal=refusal)

    @property
    def fenced(self) -> bool:
        """The token is not ours any more (S7)."""
        return self.refusal in {"fenced", "expired"}


class StreamGone(Conflict):
    """There is no such stream."""

    code = "stream-gone"


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
) -> Appended:
    """Append ``events`` to a task's stream, with the changes of its row and of its calls, in one statement.

    A worker passes its ``token`` and the ``expected`` head sequence; an operator's command passes neither,
    having locked the task row, and appends at the head. ``task`` values may be ``After`` or ``Seq``.
    Raises ``Stale`` (nothing appended; ``refusal`` says why: fenced, expired, moved, ended, not running, or
    the admission's reason), ``StreamGone``. Source of the rules: record "Appending", S2, S7, S11.
    """
    if not events:
        raise ValueError("An append without events says nothing.")
    prepared = [event_prepare(event) for event in events]
    new = [_row(change) for change in calls if change.new]
    changed = [_row(change) for change in calls if not change.new]
    blobs = [blob for item in prepared for blob in item.blobs]
    params = _params(stream, _items(prepared, actor, token), blobs, expected) | {
        "epoch": token.epoch if token else None,
        "nonce": token.nonce if token else None,
        "task": _dump(_split(task or {})),
        "calls_new": _dump(new),
        "calls_changed": _dump(changed),
        "admission": admission.as_json() if admission else None,
        "after_end": after_end,
    }
    return _run(TASK_STATEMENT, params)


def append_administration(*, workspace: UUID, events: Sequence[Event], actor: str) -> Appended:
    """Append to a workspace's administration stream: every change with its author and difference."""
    prepared = [event_prepare(event) for event in events]
    blobs = [blob for item in prepared for blob in item.blobs]
    return _run(WORKSPACE_STATEMENT, _params(workspace, _items(prepared, actor, None), blobs, None))


def _items(prepared: Sequence[PreparedEvent], actor: str, token: Token | None) -> list[dict[str, Any]]:
    epoch = token.epoch if token else None
    return [
        {"kind": item.kind, "actor": actor, "epoch": epoch, "data": item.data}
        | ({"after": item.after} if item.after else {})
        for item in prepared
    ]


def _params(
    stream: UUID, items: list[dict[str, Any]], blobs: Sequence[BlobPart], expected: int | None
) -> dict[str, Any]:
    return {
        "stream": stream,
        "events": _dump(items),
        "expected": expected,
        "blob_digests": [blob.sha256 for blob in blobs],
        "blob_types": [blob.media_type for blob in blobs],
        "blob_bytes": [blob.content for blob in blobs],
    }


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=str)


def _split(values: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in values.items() if not isinstance(value, (After, Seq))}
    after = {name: value.seconds for name, value in values.items() if isinstance(value, After)}
    seqs = {name: value.ordinal for name, value in values.items() if isinstance(value, Seq)}
    return {"set": plain} | ({"after": after} if after else {}) | ({"seqs": seqs} if seqs else {})


def _row(change: CallChange) -> dict[str, Any]:
    values = dict(change.set)
    if change.new:
        values["name"] = change.name
    return {"name": change.name, **_split(values)}


def _run(statement: str, params: dict[str, Any]) -> Appended:
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.RawCursor(connection.connection) as cursor:
        cursor.execute(statement, list(params.values()), prepare=True)
        row = cursor.fetchone()
    if row is None:
        raise StreamGone(stream=str(params["stream"]))
    refusal, at, last_seq, head_seq, status, held_epoch, _until = row
    if refusal is not None:
        raise Stale(refusal=refusal, head_seq=head_seq, task_status=status, held_epoch=held_epoch, at=at)
    return Appended(head_seq=last_seq, first_seq=head_seq + 1, at=at)
