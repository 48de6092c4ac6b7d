"""The ledger: every arrival and every effect, counted by the outside world itself."""

import json
import time
from typing import Any

from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Visit


class Ledger:
    """Writes and reads the two tables ``arrival`` and ``effect``; times are seconds since 1970, UTC."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def arrive(self, visit: Visit) -> int:
        """Count one arrival, before anything else happens to it."""
        marks, fault = visit.marks, visit.fault
        return self._storage.run(
            "INSERT INTO arrival (at, system, operation, acts, method, path, key, business_key, call, attempt,"
            " arguments, fault, fault_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(time.time(), visit.system, visit.operation, visit.acts, visit.method, visit.path),
            *(marks.key, marks.business_key, marks.call, marks.attempt, json.dumps(visit.arguments)),
            *(fault.fault if fault else None, visit.fault_id),
        )

    def end(self, arrival: int, *, status: int | None, ended: str, replayed: bool = False) -> None:
        """Note how the sender was answered: answered, cut, garbage or slow."""
        self._storage.run(
            "UPDATE arrival SET status = ?, ended = ?, ended_at = ?, replayed = ? WHERE id = ?",
            *(status, ended, time.time(), replayed, arrival),
        )

    def effect(self, visit: Visit, *, reference: str, arguments: Any, item: Row | None = None) -> int:
        """Count one effect. ``item`` (key, business key, index) is given where one request has many effects."""
        marks = visit.marks
        own = item or {}
        return self._storage.run(
            "INSERT INTO effect (arrival, at, system, operation, key, business_key, call, item, reference, arguments,"
            " planted, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(visit.arrival, time.time(), visit.system, visit.operation, own.get("key") or marks.key),
            *(own.get("business_key") or marks.business_key, marks.call, own.get("item"), reference),
            *(json.dumps(arguments), visit.planted, visit.late),
        )

    def arrivals(self, **wanted: Any) -> list[Row]:
        """Arrivals in order, with ``applied_at`` (none if nothing was applied)."""
        where, values, limit = _conditions(wanted)
        rows = self._storage.select("arrival_applied", where, *values, end=f"ORDER BY id{limit}")
        return [_readable(row, "acts", "replayed") for row in rows]

    def effects(self, **wanted: Any) -> list[Row]:
        """Effects in order, as counted when they were applied."""
        where, values, limit = _conditions(wanted)
        rows = self._storage.select("effect", where, *values, end=f"ORDER BY id{limit}")
        return [_readable(row, "planted", "late") for row in rows]

    def latest_arrivals(self, count: int) -> list[Row]:
        """The last ``count`` arrivals that meant to act, newest first."""
        rows = self._storage.select("arrival_applied", "acts", count, end="ORDER BY id DESC LIMIT ?")
        return [_readable(row, "acts", "replayed") for row in rows]


def _conditions(wanted: dict[str, Any]) -> tuple[str, list[Any], str]:
    """Turn filters into SQL; the names come from the routes, never from a request."""
    parts, values, limit = ["1"], [], ""
    for name, value in wanted.items():
        if value is None:
            continue
        if name == "limit":
            limit = f" LIMIT {int(value)}"
            continue
        parts.append({"since": "at >= ?", "after": "id > ?"}.get(name, f"{name} = ?"))
        values.append(value)
    return " AND ".join(parts), values, limit


def _readable(row: Row, *flags: str) -> Row:
    row["arguments"] = json.loads(row["arguments"])
    return row | {flag: bool(row[flag]) for flag in flags}
