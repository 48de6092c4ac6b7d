"""Batch: many notices in one request, each keyed by itself; it can stop after the first few."""

import hashlib
import json
import time
from typing import Annotated, Any

from pydantic import Field

from chaos_app.world.errors import Refused
from chaos_app.world.faults import Kind
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Input, Reply, Visit

SYSTEM = "batch"
Mark = Annotated[str, Field(min_length=1, max_length=300)]


class Notice(Input):
    """One item: a line posted to a room. Without a key it is posted each time."""

    key: Mark | None = None
    room: Annotated[str, Field(min_length=1, max_length=100)]
    text: Annotated[str, Field(min_length=1, max_length=4000)]


class NewBatch(Input):
    """The items, applied in their order."""

    items: Annotated[list[Notice], Field(min_length=1, max_length=1000)]


def batch_post(outside: Outside, visit: Visit) -> Reply:
    """Apply the items; 422 before anything is applied if a key was used for another item."""
    items = visit.read(NewBatch).items
    known = [_known(outside, visit, item) for item in items]
    stops = visit.fault.count if visit.told(Kind.PARTIAL) and visit.fault else len(items)
    pairs = list(zip(items, known, strict=True))[:stops]
    done = [_apply(outside, visit, index, item, row) for index, (item, row) in enumerate(pairs)]
    if stops < len(items):
        status = visit.fault.status if visit.fault and visit.fault.status else 500
        detail = f"Stopped after {len(done)} of {len(items)} items, as told."
        return Reply(status, {"status": status, "code": "partial", "detail": detail, "items": done})
    return Reply(200, {"items": done})


def batch_find(outside: Outside, visit: Visit) -> Reply:
    """Notices by the key of an item."""
    key = visit.query.get("key")
    rows = notices_shown(outside.storage, "? IS NULL OR key = ?", key, key)
    return Reply(200, {"items": visit.seen(rows), "complete": True})


def notices_shown(storage: Storage, where: str = "1", *values: object) -> list[Row]:
    """Notices as the API shows them, oldest first."""
    rows = storage.select("notice", where, *values)
    shown = ("at", "key", "room", "text")
    return [
        {"id": f"N-{row['id']}"} | {name: row[name] for name in shown} | {"planted": bool(row["planted"])}
        for row in rows
    ]


def _known(outside: Outside, visit: Visit, item: Notice) -> Row | None:
    if item.key is None or visit.planted:
        return None
    found = outside.storage.row("SELECT * FROM notice WHERE key = ? ORDER BY id", item.key)
    if found and found["digest"] != _digest(item):
        raise Refused(422, "key_reused", f"The key {item.key} was used for another item.", {"key": item.key})
    return found


def _apply(outside: Outside, visit: Visit, index: int, item: Notice, known: Row | None) -> dict[str, Any]:
    storage = outside.storage
    # Two items of one batch may carry one key: the second must see what the first did.
    known = known or _known(outside, visit, item)
    if known:
        return {"id": f"N-{known['id']}", "key": item.key, "replayed": True}
    row_id = storage.run(
        "INSERT INTO notice (at, key, digest, room, text, planted) VALUES (?, ?, ?, ?, ?, ?)",
        *(time.time(), item.key, _digest(item), item.room, item.text, visit.planted),
    )
    own = {"key": item.key, "business_key": item.business_key, "item": str(index)}
    arguments = {"room": item.room, "text": item.text}
    outside.ledger.effect(visit, reference=f"N-{row_id}", arguments=arguments, item=own)
    return {"id": f"N-{row_id}", "key": item.key, "replayed": False}


def _digest(item: Notice) -> str:
    return hashlib.sha256(json.dumps([item.room, item.text]).encode()).hexdigest()


OPERATIONS = [
    Operation(SYSTEM, "post", "POST", "/batch", batch_post),
    Operation(SYSTEM, "lookup", "GET", "/batch", batch_find, acts=False),
]
