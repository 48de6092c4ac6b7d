"""The one raw statement of the code base: append events to a stream under its head row.

In its order: lock the head row, read the clock after the lock is held, compare (fence, expected
sequence, lease, admission of an attempt), insert the events with chained digests, raise the head,
change the task and its calls, store blobs. It always answers one row: what it did, or why it did not.
No time condition stands in a WHERE of the statement that waits for the row.

Rejected: one UPDATE with all conditions in its WHERE (it succeeds after the lease has ended if it
had to wait for the row), and a stored procedure (the rule would live in two languages).
"""

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
CALL_FIXED = {"task_id", "workspace_id", "name"}

# Moments come as seconds after the clock reading, sequences as the ordinal of an event of this append.
_RESOLVE = """(
    CASE WHEN {source} ? 'after' THEN (
        SELECT jsonb_object_agg(key, to_jsonb(v.at + value::float8 * interval '1 second'))
        FROM jsonb_each_text({source}->'after')
    ) ELSE '{{}}' END
) || (
    CASE WHEN {source} ? 'seqs' THEN (
        SELECT jsonb_object_agg(key, to_jsonb(v.head_seq + value::bigint)) FROM jsonb_each_text({source}->'seqs')
    ) ELSE '{{}}' END
)"""

_EVENTS = """
verdict AS MATERIALIZED (
    SELECT clock.*, {refusal} AS refusal FROM clock
),
bodies AS MATERIALIZED (
    SELECT v.head_seq + e.ord AS seq, v.at, e.item->>'kind' AS kind, e.item->>'actor' AS actor,
           (e.item->>'epoch')::bigint AS epoch, (e.item->'data') || {resolve_event} AS data,
           (extract(epoch FROM v.at) * 1000000)::bigint AS micros
    FROM verdict v, jsonb_array_elements(:events:) WITH ORDINALITY AS e(item, ord)
    WHERE v.refusal IS NULL
),
hashed AS MATERIALIZED (
    SELECT b.*, sha256(convert_to(jsonb_build_object(
        'stream', :stream:, 'seq', seq, 'kind', kind, 'actor', actor, 'epoch', epoch, 'data', data
    )::text, 'UTF8')) || int8send(micros) AS tail
    FROM bodies b
),
chained AS (
    SELECT h.seq, sha256(v.head_digest || h.tail) AS digest FROM hashed h, verdict v WHERE h.seq = v.head_seq + 1
    UNION ALL
    SELECT h.seq, sha256(c.digest || h.tail) FROM chained c JOIN hashed h ON h.seq = c.seq + 1
),
inserted AS (
    INSERT INTO tasks_app_event (stream, seq, kind, data, actor, epoch, at, digest)
    SELECT :stream:, h.seq, h.kind, h.data, h.actor, h.epoch, h.at, c.digest
    FROM hashed h JOIN chained c ON c.seq = h.seq
    RETURNING seq
),
blobs AS (
    INSERT INTO tasks_app_blob (stream, sha256, size, media_type, content)
    SELECT :stream:, b.sha256, octet_length(b.content), b.media_type, b.content
    FROM verdict v, unnest(:blob_digests:, :blob_types:, :blob_bytes:)
        AS b(sha256, media_type, content)
    WHERE v.refusal IS NULL
    ON CONFLICT ON CONSTRAINT blob_once DO NOTHING
)"""

_ANSWER = """
SELECT v.refusal, v.at, (SELECT max(seq) FROM inserted), v.head_seq, {rest}
FROM verdict v"""


def _task_statement() -> str:
    task_set = ",\n        ".join(
        f"{name} = CASE WHEN p.patch ? '{name}' THEN (p.patch->>'{name}')::{cast} ELSE t.{name} END"
        if cast != "jsonb"
        else f"{name} = CASE WHEN p.patch ? '{name}' THEN nullif(p.patch->'{name}', 'null') ELSE t.{name} END"
        for name, cast in TASK_COLUMNS.items()
    )
    columns = ", ".join(CALL_COLUMNS)
    changing = [name for name in CALL_COLUMNS if name not in CALL_FIXED]
    call_set = ", ".join(changing)
    refusal = """CASE
        WHEN clock.status IN ('completed', 'failed', 'cancelled') AND NOT :after_end: THEN 'ended'
        WHEN :epoch: IS NOT NULL AND (clock.lease_epoch, clock.lease_nonce)
            IS DISTINCT FROM (:epoch:, :nonce:) THEN 'fenced'
        WHEN :epoch: IS NOT NULL AND clock.lease_until <= clock.at THEN 'expired'
        WHEN clock.head_seq <> :expected: THEN 'moved'
        WHEN :admission: IS NULL THEN NULL
        WHEN clock.status <> 'running' THEN 'not running'
        ELSE handrail_admission(clock.workspace_id, clock.agent, :admission:)
    END"""
    return (
        """WITH RECURSIVE locked AS MATERIALIZED (
    SELECT head_seq, head_digest, lease_epoch, lease_nonce, lease_until, status, workspace_id, agent
    FROM tasks_app_task WHERE id = :stream: FOR UPDATE
),
clock AS MATERIALIZED (SELECT locked.*, clock_timestamp() AS at FROM locked),"""
        + _EVENTS.format(refusal=refusal, resolve_event=_RESOLVE.format(source="e.item"))
        + f""",
patch AS MATERIALIZED (
    SELECT (:task:->'set') || {_RESOLVE.format(source=":task:")} AS patch, v.head_seq
    FROM verdict v WHERE v.refusal IS NULL
),
task_changed AS (
    UPDATE tasks_app_task t SET
        head_seq = p.head_seq + jsonb_array_length(:events:),
        head_digest = (SELECT digest FROM chained ORDER BY seq DESC LIMIT 1),
        {task_set}
    FROM patch p WHERE t.id = :stream:
    RETURNING t.id
),
calls_new AS (
    INSERT INTO tasks_app_call ({columns})
    SELECT {", ".join("r." + name for name in CALL_COLUMNS)}
    FROM verdict v, jsonb_array_elements(:calls_new:) AS c(item),
        LATERAL jsonb_populate_record(NULL::tasks_app_call, (c.item->'set') || {_RESOLVE.format(source="c.item")}) AS r
    WHERE v.refusal IS NULL
),
calls_changed AS (
    UPDATE tasks_app_call k SET ({call_set}) = (
        SELECT {", ".join("r." + name for name in changing)}
        FROM jsonb_populate_record(k, (c.item->'set') || {_RESOLVE.format(source="c.item")}) AS r
    )
    FROM verdict v, jsonb_array_elements(:calls_changed:) AS c(item)
    WHERE v.refusal IS NULL AND k.task_id = :stream: AND k.name = c.item->>'name'
)"""
        + _ANSWER.format(rest="v.status, v.lease_epoch, v.lease_until")
    )


def _workspace_statement() -> str:
    return (
        """WITH RECURSIVE locked AS MATERIALIZED (
    SELECT head_seq, head_digest FROM core_workspace WHERE id = :stream: FOR NO KEY UPDATE
),
clock AS MATERIALIZED (SELECT locked.*, clock_timestamp() AS at FROM locked),"""
        + _EVENTS.format(
            refusal="CASE WHEN clock.head_seq <> :expected: THEN 'moved' END",
            resolve_event=_RESOLVE.format(source="e.item"),
        )
        + """,
head_raised AS (
    UPDATE core_workspace w SET head_seq = v.head_seq + jsonb_array_length(:events:),
        head_digest = (SELECT digest FROM chained ORDER BY seq DESC LIMIT 1)
    FROM verdict v WHERE v.refusal IS NULL AND w.id = :stream:
)"""
        + _ANSWER.format(rest="NULL, NULL, NULL")
    )


# The parameters by their place ($1, $2, ...): sent as they are, without a pass over this long text at each call.
PARAMETERS = {
    "stream": "uuid",
    "events": "jsonb",
    "expected": "bigint",
    "blob_digests": "text[]",
    "blob_types": "text[]",
    "blob_bytes": "bytea[]",
    "epoch": "bigint",
    "nonce": "uuid",
    "task": "jsonb",
    "calls_new": "jsonb",
    "calls_changed": "jsonb",
    "admission": "jsonb",
    "after_end": "boolean",
}
WORKSPACE_PARAMETERS = list(PARAMETERS)[:6]


def _numbered(text: str) -> str:
    for place, (name, cast) in enumerate(PARAMETERS.items(), start=1):
        text = text.replace(f":{name}:", f"${place}::{cast}")
    return text


TASK_STATEMENT = _numbered(_task_statement())
WORKSPACE_STATEMENT = _numbered(_workspace_statement())
