"""``append()``: the only writer of history."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

from core.errors import Conflict
from core.metrics import append_took
from tasks_app.record.changes import Admission, CallChange, Seq, Token
from tasks_app.record.events import After, Event
from tasks_app.record.parameters import parameters
from tasks_app.record.statement import AT_ONCE, Shape, statement
from tasks_app.record.stored import event_prepare

__all__ = ["Admission", "Appended", "CallChange", "Seq", "Stale", "StreamGone", "Token", "append"]

# Texts of appends that a connection keeps prepared, besides those of the ORM (psycopg's own limit is 100).
PREPARED = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What an append did: the new head, the sequences of its events, the database's time."""

    head_seq: int
    first_seq: int
    at: datetime

    def written(self, value: Any) -> Any:
        """Return what the statement wrote for a value of a row: a moment or a sequence of this append, or itself."""
        if isinstance(value, After):
            return self.at + timedelta(seconds=value.seconds)
        return self.first_seq + value.ordinal - 1 if isinstance(value, Seq) else value


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
    takes: bool = False,
) -> Appended:
    """Append ``events`` to a task's stream, with the changes of its row and of its calls, in one statement.

    A worker passes its ``token`` and the ``expected`` head sequence; an operator's command passes neither,
    having locked the task row, and appends at the head. ``task`` values may be ``After`` or ``Seq``.
    A claim ``takes`` its token, with the lease among its ``task`` values: its events carry the new epoch, and it is
    refused where somebody holds the task.
    Raises ``Stale`` (nothing appended; ``refusal`` says why: fenced, expired, held, moved, ended, not running, or
    the admission's reason), ``StreamGone``. Source of the rules: record "Appending", S2, S7, S11.
    """
    if not events:
        raise ValueError("An append without events says nothing.")
    shape, values = parameters(
        stream=stream,
        events=[event_prepare(event) for event in events],
        actor=actor,
        token=token,
        expected=expected,
        task=task,
        calls=calls,
        admission=admission,
        after_end=after_end,
        takes=takes,
    )
    return _run(shape, values, len(events))


def append_administration(*, workspace: UUID, events: Sequence[Event], actor: str) -> Appended:
    """Append to a workspace's administration stream: every change with its author and difference."""
    prepared = [event_prepare(event) for event in events]
    shape, values = parameters(stream=workspace, events=prepared, actor=actor, of_task=False)
    return _run(shape, values, len(events))


def _run(shape: Shape, values: list[Any], count: int) -> Appended:
    here = connections[DEFAULT_DB_ALIAS]
    here.ensure_connection()
    began = time.perf_counter()
    with here.wrap_database_errors:
        cursor = _cursor(here.connection)
        cursor.execute(statement(shape), values, prepare=count <= AT_ONCE)
        row = cursor.fetchone()
    append_took(time.perf_counter() - began)
    if row is None:
        raise StreamGone(stream=str(UUID(values[0])))
    refusal, at, head_seq, status, held_epoch = row
    if refusal is not None:
        raise Stale(refusal=refusal, head_seq=head_seq, task_status=status, held_epoch=held_epoch, at=at)
    return Appended(head_seq=head_seq + count, first_seq=head_seq + 1, at=at)


def _cursor(raw: Any) -> psycopg.RawCursor[Any]:
    """Return the cursor that this connection appends through; a new one for each append costs as much as its events."""
    kept: psycopg.RawCursor[Any] | None = getattr(raw, "append_cursor", None)
    if kept is None:
        raw.prepared_max = PREPARED
        kept = raw.append_cursor = psycopg.RawCursor(raw)
    return kept
