"""The one raw statement of the code base: append events to a stream under its head row.

In its order: lock the head row, read the clock after the lock is held, compare (fence, expected
sequence, lease, admission of an attempt), insert the events with chained digests, raise the head,
change the task and its calls, store blobs. It always answers one row: what it did, or why it did not.
No time condition stands in a WHERE of the statement that waits for the row.

Its text holds only what an append has (``Shape``); a process uses some dozens of them, each prepared once.
Subqueries end in OFFSET 0 where the planner must not merge them: the clock is read once, and after the lock.

Rejected: one UPDATE with all conditions in its WHERE (it succeeds after the lease has ended if it
had to wait for the row), a stored procedure (the rule would live in two languages), and one text for every
append with a CASE for each column (twice the time on the server: what is not needed is still set up).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

TASK_COLUMNS = {
    "status": "text",
    "wait": "jsonb",
    "open_wait": "jsonb",
    "signals": "jsonb",
    "child_tasks": "jsonb",
    "wake_at": "timestamptz",
    "spent": "jsonb",
    "step": "integer",
    "bad_decisions": "integer",
    "checkpoint_seq": "bigint",
    "checkpoint_step": "integer",
    "state_seq": "bigint",
    "losses": "integer",
    "loss_place": "text",
    "one_by_one": "boolean",
    "claim": "jsonb",
    "ended_at": "timestamptz",
    "agent_version": "integer",
    "lease_holder": "text",
    "lease_epoch": "bigint",
    "lease_nonce": "uuid",
    "lease_until": "timestamptz",
}
CALL_COLUMNS = {
    "task_id": "uuid",
    "workspace_id": "uuid",
    "name": "text",
    "step": "integer",
    "ordinal": "integer",
    "tool": "text",
    "contract_version": "integer",
    "effect_class": "text",
    "digest": "text",
    "key": "text",
    "business_key": "text",
    "holds_business_key": "boolean",
    "state": "text",
    "attempts": "integer",
    "maybe_applied": "boolean",
    "look_first": "boolean",
    "first_attempt_at": "timestamptz",
    "deadline": "timestamptz",
    "attempt_epoch": "bigint",
    "look_ups": "integer",
    "next_look_at": "timestamptz",
    "reference": "text",
    "resource": "text",
    "handle": "text",
    "intended_seq": "bigint",
    "attempted_seq": "bigint",
    "answer_seq": "bigint",
    "settled_seq": "bigint",
    "replaced_by": "text",
}

AT_ONCE = 8  # more events than this are chained by a recursive query, fewer by a text of their own

VALUE, AFTER, SEQ = "value", "after", "seq"
Columns = tuple[tuple[str, str], ...]  # (column, VALUE | AFTER | SEQ)


@dataclass(frozen=True, slots=True)
class CallsShape:
    """Calls with the same columns: new rows, or changed ones. ``alone``: one changed row, by parameters of its own."""

    new: bool
    columns: Columns
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What an append has: its text follows from this alone.

    ``moments``: for each event the names of its moments; with ``many``, the events come as one array instead.
    ``takes``: the lease is taken by this very append, which nobody may hold.
    """

    task: bool = True
    fenced: bool = False
    takes: bool = False
    expected: bool = False
    admission: bool = False
    after_end: bool = False
    moments: tuple[tuple[str, ...], ...] = ()
    many: bool = False
    columns: Columns = ()
    calls: tuple[CallsShape, ...] = ()
    blobs: bool = False


class _Places:
    """Gives out the parameters $1, $2, ... in the order in which ``parameters.py`` fills them."""

    def __init__(self) -> None:
        self._last = 0

    def take(self, cast: str) -> str:
        self._last += 1
        return f"${self._last}::{cast}"


@lru_cache(maxsize=1000)
def statement(shape: Shape) -> str:
    """Return the text for an append of this shape."""
    places = _Places()
    stream, actor, epoch = places.take("uuid"), places.take("text"), places.take("bigint")
    parts = [_verdict(shape, places, stream, epoch)]
    parts += _many(places, stream, actor, epoch) if shape.many else _few(shape.moments, places, stream, actor, epoch)
    parts.append(_head(shape, places, stream))
    parts += [_calls(number, group, places, stream) for number, group in enumerate(shape.calls)]
    if shape.blobs:
        parts.append(_blobs(places, stream))
    recursive = "RECURSIVE " if shape.many else ""
    answer = "SELECT refusal, at, head_seq, status, lease_epoch FROM verdict"
    return f"WITH {recursive}" + ",\n".join(parts) + "\n" + answer


def _verdict(shape: Shape, places: _Places, stream: str, epoch: str) -> str:
    """Lock, read the clock, compare: three levels, each seeing what the one below has done."""
    if shape.task:
        row = "head_seq, head_digest, lease_epoch, lease_nonce, lease_until, status, workspace_id, agent"
        locked = f"SELECT {row} FROM tasks_app_task WHERE id = {stream} FOR UPDATE"
    else:
        # As tasks_locked does for a task's row: who stands still with this one would hold up a workspace.
        bound = f"set_config('idle_in_transaction_session_timeout', {places.take('text')}, true) AS stands_still"
        row = f"head_seq, head_digest, NULL AS status, NULL::bigint AS lease_epoch, {bound}"
        locked = f"SELECT {row} FROM core_workspace WHERE id = {stream} FOR NO KEY UPDATE"
    clock = f"SELECT locked.*, clock_timestamp() AS at FROM ({locked}) locked OFFSET 0"
    return f"""verdict AS MATERIALIZED (
    SELECT clock.*, {_refusal(shape, places, epoch)} AS refusal FROM ({clock}) clock
)"""


def _refusal(shape: Shape, places: _Places, epoch: str) -> str:
    whens = []
    if shape.task and not shape.after_end:
        whens.append("WHEN status IN ('completed', 'failed', 'cancelled') THEN 'ended'")
    if shape.fenced:
        nonce = places.take("uuid")
        whens.append(f"WHEN (lease_epoch, lease_nonce) IS DISTINCT FROM ({epoch}, {nonce}) THEN 'fenced'")
        whens.append("WHEN lease_until <= at THEN 'expired'")
    if shape.takes:
        whens.append("WHEN lease_nonce IS NOT NULL THEN 'held'")
    if shape.expected:
        whens.append(f"WHEN head_seq <> {places.take('bigint')} THEN 'moved'")
    if shape.admission:
        admitted = f"handrail_admission(workspace_id, agent, {places.take('jsonb')})"
        whens.append(f"WHEN status <> 'running' THEN 'not running' ELSE {admitted}")
    return f"CASE {' '.join(whens)} END" if whens else "NULL::text"


_MICROS = "int8send((extract(epoch FROM at) * 1000000)::bigint)"


def _tail(stream: str, actor: str, epoch: str, seq: str, kind: str, data: str) -> str:
    """What one event adds to the chain: the digest of its body, then its time."""
    return f"""sha256(convert_to(jsonb_build_object('stream', {stream}, 'seq', {seq}, 'kind', {kind},
        'actor', {actor}, 'epoch', {epoch}, 'data', {data})::text, 'UTF8')) || micros"""


def _few(moments: Sequence[Sequence[str]], places: _Places, stream: str, actor: str, epoch: str) -> list[str]:
    """Chain the events by one level of query each; ``added`` is one row, or none where the append is refused."""
    kinds, datas = [], []
    for number, names in enumerate(moments, start=1):
        kinds.append(places.take("text"))
        data = places.take("jsonb")
        resolved = [f"'{name}', at + {places.take('float8')} * interval '1 second'" for name in names]
        datas.append(f"{data}{f' || jsonb_build_object({", ".join(resolved)})' if resolved else ''} AS data{number}")
    query = f"SELECT at, head_seq, {_MICROS} AS micros, head_digest AS digest0, {', '.join(datas)}"
    query += " FROM verdict WHERE refusal IS NULL OFFSET 0"
    for number, kind in enumerate(kinds, start=1):
        tail = _tail(stream, actor, epoch, f"head_seq + {number}", kind, f"data{number}")
        query = f"SELECT c.*, sha256(digest{number - 1} || {tail}) AS digest{number}\n    FROM ({query}) c OFFSET 0"
    rows = [f"({number}, {kind}, a.data{number}, a.digest{number})" for number, kind in enumerate(kinds, start=1)]
    return [
        f"added AS MATERIALIZED (\n    SELECT l.*, digest{len(kinds)} AS last, {len(kinds)} AS count FROM ({query}) l)",
        f"""inserted AS (
    INSERT INTO tasks_app_event (stream, seq, kind, data, actor, epoch, at, digest)
    SELECT {stream}, a.head_seq + e.n, e.kind, e.data, {actor}, {epoch}, a.at, e.digest
    FROM added a, LATERAL (VALUES {", ".join(rows)}) AS e(n, kind, data, digest)
)""",
    ]


def _many(places: _Places, stream: str, actor: str, epoch: str) -> list[str]:
    """Chain the events of one array recursively; ``added`` is as above."""
    events = places.take("jsonb")
    return [
        f"""bodies AS MATERIALIZED (
    SELECT v.head_seq + e.ord AS seq, v.at, e.item->>'kind' AS kind, {_MICROS} AS micros, (e.item->'data') || (
        SELECT coalesce(jsonb_object_agg(key, v.at + value::float8 * interval '1 second'), '{{}}')
        FROM jsonb_each_text(e.item->'after')
    ) AS data
    FROM verdict v, jsonb_array_elements({events}) WITH ORDINALITY AS e(item, ord) WHERE v.refusal IS NULL
)""",
        f"""hashed AS MATERIALIZED (
    SELECT b.*, {_tail(stream, actor, epoch, "seq", "kind", "data")} AS tail FROM bodies b
)""",
        """chained AS (
    SELECT h.seq, sha256(v.head_digest || h.tail) AS digest FROM hashed h, verdict v WHERE h.seq = v.head_seq + 1
    UNION ALL
    SELECT h.seq, sha256(c.digest || h.tail) FROM chained c JOIN hashed h ON h.seq = c.seq + 1
)""",
        f"""inserted AS (
    INSERT INTO tasks_app_event (stream, seq, kind, data, actor, epoch, at, digest)
    SELECT {stream}, h.seq, h.kind, h.data, {actor}, {epoch}, h.at, c.digest
    FROM hashed h JOIN chained c ON c.seq = h.seq
)""",
        """added AS MATERIALIZED (
    SELECT v.at, v.head_seq, jsonb_array_length(EVENTS) AS count,
        (SELECT digest FROM chained ORDER BY seq DESC LIMIT 1) AS last
    FROM verdict v WHERE v.refusal IS NULL
)""".replace("EVENTS", events),
    ]


def _resolved(kind: str, value: str) -> str:
    """Moments come as seconds after the clock reading, sequences as the ordinal of an event of this append."""
    if kind == AFTER:
        return f"a.at + {value} * interval '1 second'"
    return f"a.head_seq + {value}" if kind == SEQ else value


def _cast(kind: str, own: str) -> str:
    return {AFTER: "float8", SEQ: "bigint"}.get(kind, own)


def _head(shape: Shape, places: _Places, stream: str) -> str:
    sets = ["head_seq = a.head_seq + a.count", "head_digest = a.last"]
    for name, kind in shape.columns:
        sets.append(f"{name} = {_resolved(kind, places.take(_cast(kind, TASK_COLUMNS[name])))}")
    table = "tasks_app_task" if shape.task else "core_workspace"
    return f"raised AS (\n    UPDATE {table} t SET {', '.join(sets)} FROM added a WHERE t.id = {stream}\n)"


def _calls(number: int, group: CallsShape, places: _Places, stream: str) -> str:
    if group.alone:
        return _call(number, group, places, stream)
    given = [f"{name} {_cast(kind, CALL_COLUMNS[name])}" for name, kind in group.columns]
    values = [(name, _resolved(kind, f"r.{name}")) for name, kind in group.columns]
    rows = places.take("jsonb")
    if group.new:
        names = ", ".join(name for name, _ in values)
        source = f"jsonb_to_recordset({rows}) AS r({', '.join(given)})"
        chosen = ", ".join(value for _, value in values)
        return f"calls{number} AS (\n    INSERT INTO tasks_app_call ({names}) SELECT {chosen} FROM added a, {source}\n)"
    source = f"jsonb_to_recordset({rows}) AS r({', '.join(['call_name text', *given])})"
    sets = ", ".join(f"{name} = {value}" for name, value in values)
    # Each row by its index, however many calls the task has: what is pulled up may read them all (OFFSET 0).
    one = f"SELECT id FROM tasks_app_call WHERE task_id = {stream} AND name = r.call_name OFFSET 0"
    found = f"added a, {source}, LATERAL ({one}) f WHERE k.id = f.id"
    return f"calls{number} AS (\n    UPDATE tasks_app_call k SET {sets} FROM {found}\n)"


def _call(number: int, group: CallsShape, places: _Places, stream: str) -> str:
    sets = []
    for name, kind in group.columns:
        sets.append(f"{name} = {_resolved(kind, places.take(_cast(kind, CALL_COLUMNS[name])))}")
    where = f"k.task_id = {stream} AND k.name = {places.take('text')}"
    return f"calls{number} AS (\n    UPDATE tasks_app_call k SET {', '.join(sets)} FROM added a WHERE {where}\n)"


def _blobs(places: _Places, stream: str) -> str:
    digests, types, contents = places.take("text[]"), places.take("text[]"), places.take("bytea[]")
    return f"""blobs AS (
    INSERT INTO tasks_app_blob (stream, sha256, size, media_type, content)
    SELECT {stream}, b.sha256, octet_length(b.content), b.media_type, b.content
    FROM added a, unnest({digests}, {types}, {contents}) AS b(sha256, media_type, content)
    ON CONFLICT ON CONSTRAINT blob_once DO NOTHING
)"""
