"""The state of the outside world as one document: what its page shows and what others read."""

import asyncio
import time
from collections import defaultdict
from typing import Any

from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row
from chaos_app.world.systems.batch import notices_shown
from chaos_app.world.systems.config import commit_shown
from chaos_app.world.systems.files import files_shown
from chaos_app.world.systems.jobs import jobs_shown
from chaos_app.world.systems.mail import message_shown
from chaos_app.world.systems.payments import payments_shown
from chaos_app.world.systems.stock import stock_shown
from chaos_app.world.systems.tickets import tickets_shown
from chaos_app.world.witness import effects_counted, repetitions


async def state(outside: Outside, *, limit: int = 200) -> dict[str, Any]:
    """Everything as it is, newest first, at most ``limit`` of each kind, with the marks of its effect.

    Planted effects are shown and marked, but are no repetition of anything.
    """
    effects, disagreements = await effects_counted(outside)
    storage = outside.storage
    commits = await asyncio.to_thread(outside.repository.log, limit=limit, diffs=True)
    made = _made(effects)
    kinds = {
        "tickets": _marked(tickets_shown(storage), "id", made["tickets"]),
        "mail": _marked([message_shown(message) for message in outside.mailbox.messages()], "reference", made["mail"]),
        "config": _marked([commit_shown(commit) for commit in reversed(commits)], "version", made["config"]),
        "payments": _marked(payments_shown(storage), "id", made["payments"]),
        "batch": _marked(notices_shown(storage), "id", made["batch"]),
        "jobs": _marked(jobs_shown(storage), "handle", made["jobs"]),
        "files": _marked(files_shown(storage), "name", made["files"]),
        "stock": stock_shown(storage),
    }
    return {
        "at": time.time(),
        "counts": {name: _count(rows) for name, rows in kinds.items()},
        "repetitions": repetitions([row for row in effects if not row["planted"]]),
        "disagreements": disagreements,
        "arrivals": outside.ledger.latest_arrivals(min(limit, 50)),
    } | {name: rows[::-1][:limit] for name, rows in kinds.items()}


def _made(effects: list[Row]) -> dict[str, dict[str, Row]]:
    """By system and reference, the effect that made a thing (closing a ticket or remarking on it makes none)."""
    made: dict[str, dict[str, Row]] = defaultdict(dict)
    for effect in effects:
        if effect["operation"] not in ("comment", "close"):
            made[effect["system"]][effect["reference"]] = effect
    return made


def _marked(rows: list[Row], reference: str, made: dict[str, Row]) -> list[Row]:
    """Give each row the marks and the ledger's time of its effect."""
    marked = []
    for row in rows:
        effect = made.get(row[reference])
        marks = {name: effect[name] for name in ("at", "key", "business_key", "call", "late")} if effect else {}
        marked.append(row | marks)
    return marked


def _count(rows: list[Row]) -> int:
    """How many there are, without the world's own first state and what faults planted; of stock, the reads."""
    return sum(row.get("reads", 1) for row in rows if not row.get("planted") and not row.get("seeded"))
