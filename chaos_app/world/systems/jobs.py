"""Jobs: long work. Starting is keyed; the handle is polled until the time that the work takes has passed."""

import json
import time
from typing import Annotated, Any, Literal

from pydantic import Field

from chaos_app.world.errors import Refused
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Input, Reply, Visit

SYSTEM = "jobs"


class NewJob(Input):
    """Work that takes ``seconds`` and ends as ``outcome`` with ``result``."""

    kind: Annotated[str, Field(min_length=1, max_length=100)]
    seconds: Annotated[float, Field(ge=0, le=3600)] = 1.0
    outcome: Literal["done", "failed"] = "done"
    arguments: dict[str, Any] = Field(default_factory=dict)
    result: Any = None


def job_start(outside: Outside, visit: Visit) -> Reply:
    """Start a job; its state follows from the clock alone, so it runs on while the world is down."""
    new = visit.read(NewJob)
    row_id = outside.storage.run(
        "INSERT INTO job (at, key, kind, seconds, outcome, arguments, result, planted) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        *(time.time(), visit.marks.key, new.kind, new.seconds, new.outcome),
        *(json.dumps(new.arguments), json.dumps(new.result), visit.planted),
    )
    outside.ledger.effect(visit, reference=f"J-{row_id}", arguments=visit.arguments)
    return Reply(202, jobs_shown(outside.storage, "id = ?", row_id)[0], {"Location": f"/jobs/J-{row_id}"})


def job_poll(outside: Outside, visit: Visit) -> Reply:
    """One job by its handle."""
    handle = visit.parameters["handle"]
    digits = handle.removeprefix("J-")
    known = digits.isascii() and digits.isdigit() and len(digits) < 18
    found = jobs_shown(outside.storage, "id = ?", int(digits)) if known else []
    if not visit.seen(found):
        raise Refused(404, "not_found", f"There is no job {handle}.")
    return Reply(200, found[0])


def jobs_find(outside: Outside, visit: Visit) -> Reply:
    """Jobs by the key that started them."""
    key = visit.query.get("key")
    rows = jobs_shown(outside.storage, "? IS NULL OR key = ?", key, key)
    return Reply(200, {"jobs": visit.seen(rows), "complete": True})


def jobs_shown(storage: Storage, where: str = "1", *values: object) -> list[Row]:
    """Jobs as the API shows them, oldest first."""
    rows = storage.select("job", where, *values)
    return [_shown(row, time.time()) for row in rows]


def _shown(row: Row, now: float) -> Row:
    ended = now >= row["at"] + row["seconds"]
    state = row["outcome"] if ended else "running"
    shown = {"handle": f"J-{row['id']}", "state": state, "started_at": row["at"], "seconds": row["seconds"]}
    result = json.loads(row["result"]) if state == "done" else None
    plain = {"key": row["key"], "kind": row["kind"], "arguments": json.loads(row["arguments"])}
    return shown | plain | {"result": result, "planted": bool(row["planted"])}


OPERATIONS = [
    Operation(SYSTEM, "start", "POST", "/jobs", job_start, keyed=True),
    Operation(SYSTEM, "lookup", "GET", "/jobs", jobs_find, acts=False),
    Operation(SYSTEM, "poll", "GET", "/jobs/{handle}", job_poll, acts=False),
]
