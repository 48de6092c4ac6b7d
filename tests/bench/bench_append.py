"""One fenced append, with digest, indexes and row changes, beside the one-statement floor of the same run.

The floor is what one psycopg connection makes durable with one statement: a compare-and-set of a head row and an
insert of the event, nothing else. Rounds are interleaved, so that a busy machine slows all of them alike.
``python -m tests.bench.bench_append [--rounds N] [--appends N]`` prints one JSON line.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import django

BODY = {"tool": "http.get", "key": "0123456789abcdef" * 2, "url": "https://example.test/a/b/c", "pad": "x" * 200}
FLOOR_TABLES = """
DROP TABLE IF EXISTS bench_floor_event; DROP TABLE IF EXISTS bench_floor_head;
CREATE TABLE bench_floor_event (task uuid, seq int, kind text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
    body jsonb NOT NULL, PRIMARY KEY (task, seq));
CREATE TABLE bench_floor_head (task uuid PRIMARY KEY, seq int NOT NULL, state text NOT NULL);
"""
HEAD_AND_EVENT = """
WITH head AS (UPDATE bench_floor_head SET seq = seq + 1 WHERE task = %s AND seq = %s RETURNING task, seq)
INSERT INTO bench_floor_event (task, seq, kind, body) SELECT task, seq, %s, %s FROM head
"""
EVENT_ALONE = "INSERT INTO bench_floor_event (task, seq, kind, body) VALUES (%s, %s, %s, %s)"

type Round = Callable[[int], None]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--appends", type=int, default=300, help="of each kind, a round")
    options = parser.parse_args()
    django.setup()
    print(json.dumps(measure(rounds=options.rounds, appends=options.appends)))


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Measure with the usual sizes."""
    yield measure(rounds=9, appends=300)


def measure(*, rounds: int, appends: int) -> dict[str, Any]:
    """Return appends a second of each shape (the median round), and ours as ratios of the two floors."""
    shapes: dict[str, Round] = {
        "floor_head_and_event": _floor(HEAD_AND_EVENT),
        "floor_event_alone": _floor(EVENT_ALONE),
        "append": _append(),
        "append_with_call": _append(call=True),
    }
    for shape in shapes.values():
        shape(50)
    speeds: dict[str, list[float]] = {name: [] for name in shapes}
    for _ in range(rounds):
        for name, shape in shapes.items():
            started = time.perf_counter()
            shape(appends)
            speeds[name].append(appends / (time.perf_counter() - started))
    ratios = {
        name: [ours / floor for ours, floor in zip(speeds[name], speeds["floor_head_and_event"], strict=True)]
        for name in ("append", "append_with_call")
    }
    return {
        "figure": "fenced append",
        "unit": "appends/s",
        **{name: round(statistics.median(values)) for name, values in speeds.items()},
        "ratio": round(statistics.median(ratios["append"]), 2),
        "ratio_with_call": round(statistics.median(ratios["append_with_call"]), 2),
        "goal": "ratio >= 0.7",
    }


def _floor(statement: str) -> Round:
    from django.db import connection

    with connection.cursor() as cursor:
        if statement == HEAD_AND_EVENT:
            cursor.execute(FLOOR_TABLES)
        connection.commit()
    task, body, raw = uuid4(), json.dumps(BODY), connection.connection
    raw.execute("INSERT INTO bench_floor_head VALUES (%s, -1, 'run')", [task])
    seq = -1

    def run(times: int) -> None:
        nonlocal seq
        for _ in range(times):
            where = seq if statement == HEAD_AND_EVENT else seq + 1
            raw.execute(statement, (task, where, "intended", body), prepare=True)
            seq += 1

    return run


def _append(*, call: bool = False) -> Round:
    from tasks_app.record.append import CallChange, Token, append
    from tasks_app.record.events import CallOutcome
    from tasks_app.status import CallState

    task, token = _task(), Token(epoch=1, nonce=uuid4())
    head = _claimed(task, token)
    changes = [CallChange(name="c", set={"state": CallState.OK, "reference": "r-1"})] if call else []

    def run(times: int) -> None:
        nonlocal head
        for _ in range(times):
            event = CallOutcome(name="c", attempt=1, outcome="ok", result=BODY)
            done = append(
                stream=task,
                events=[event],
                actor="worker:bench",
                token=token,
                expected=head,
                task={"spent": {"seconds": 1.5}},
                calls=changes,
            )
            head = done.head_seq

    return run


def _task() -> UUID:
    from django.contrib.auth.models import User

    from core.models import Workspace
    from tasks_app.models import Task

    workspace, _ = Workspace.objects.get_or_create(slug="bench", name="Bench")
    owner, _ = User.objects.get_or_create(username="bench")
    return Task.objects.create(
        workspace=workspace, owner=owner, agent="bench", agent_version=1, title="Bench", intent={}
    ).pk


def _claimed(task: UUID, token: Any) -> int:
    from tasks_app.models import Call, Task
    from tasks_app.record.append import append
    from tasks_app.record.events import After, SliceClaimed

    Call.objects.create(
        task_id=task,
        workspace_id=Task.objects.get(pk=task).workspace_id,
        name="c",
        step=1,
        ordinal=0,
        tool="t",
        contract_version=1,
        effect_class="keyed",
        digest="d",
        key=str(task),
        state="attempted",
        intended_seq=0,
    )
    return append(
        stream=task,
        events=[SliceClaimed(worker="bench", nonce=str(token.nonce), host="here", pid=1, place="step 1")],
        actor="worker:bench",
        task={
            "status": "running",
            "lease_holder": "bench",
            "lease_epoch": token.epoch,
            "lease_nonce": str(token.nonce),
            "lease_until": After(3600),
        },
    ).head_seq


if __name__ == "__main__":
    main()
