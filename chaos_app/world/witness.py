"""The witness: effects as the real storage has them, held against what the ledger counted."""

import asyncio
import json
from collections import defaultdict
from typing import Any

from chaos_app.world.outside import Outside
from chaos_app.world.repository import Commit
from chaos_app.world.storage import Row

IDENTITY = ("key", "business_key", "call", "planted")


async def effects_counted(outside: Outside, **wanted: Any) -> tuple[list[Row], list[str]]:
    """Effects, each with ``stored`` and ``counted``, and every disagreement between the two as a sentence.

    Commits and messages are counted from repository and Maildir: one that the ledger does not know (the world was
    killed in between, or somebody else wrote there) is an effect all the same.
    """
    system = wanted.get("system")
    async with outside.lock:
        commits = await asyncio.to_thread(outside.repository.log) if system in (None, "config") else []
        found = _in_repository(commits) | (_in_mailbox(outside) if system in (None, "mail") else {})
        rows = [row for row in outside.ledger.effects() if system in (None, row["system"])]
    known = {row["reference"] for row in rows}
    merged = [row | {"stored": _stored(outside, row, found), "counted": True} for row in rows]
    merged += [effect | {"counted": False} for reference, effect in found.items() if reference not in known]
    merged.sort(key=lambda row: row["at"])
    return [row for row in merged if _wanted(row, wanted)], [text for row in merged if (text := _disagreement(row))]


def repetitions(effects: list[Row]) -> list[dict[str, Any]]:
    """Groups of two or more effects that should be one: same business key, or same key, in one system's operation.

    The items of one request share its marks; an item is compared with the item of the same number only.
    """
    repeated: list[dict[str, Any]] = []
    claimed: set[str] = set()
    for by in ("business_key", "key"):
        for (system, operation, value, _), rows in _grouped(effects, by).items():
            references = [row["reference"] for row in rows]
            if len(rows) < 2 or claimed.issuperset(references):
                continue
            claimed.update(references)
            plain = {"system": system, "operation": operation, "by": by, "value": value}
            repeated.append(plain | {"count": len(rows), "references": references})
    return repeated


def _grouped(effects: list[Row], by: str) -> dict[tuple[str, str, str, str | None], list[Row]]:
    groups: dict[tuple[str, str, str, str | None], list[Row]] = defaultdict(list)
    for row in effects:
        if row[by]:
            groups[row["system"], row["operation"], row[by], row["item"]].append(row)
    return groups


def _in_repository(commits: list[Commit]) -> dict[str, Row]:
    found = {}
    for commit in commits:
        if not commit.seeded:
            marks = {name: commit.trailers.get(name) for name in ("key", "business_key", "call")}
            arguments = {"service": commit.service, "summary": commit.subject}
            planted = "planted" in commit.trailers
            found[commit.version] = _effect("config", "change", commit.version, commit.at, marks, arguments, planted)
    return found


def _in_mailbox(outside: Outside) -> dict[str, Row]:
    found = {}
    for message in outside.mailbox.messages():
        marks = {name: getattr(message.marks, name) for name in ("key", "business_key", "call")}
        arguments = {"to": [message.to], "subject": message.subject}
        found[message.reference] = _effect(
            "mail", "send", message.reference, message.at, marks, arguments, message.planted
        )
    return found


def _effect(
    system: str, operation: str, reference: str, at: float, marks: dict[str, Any], arguments: Any, planted: bool
) -> Row:
    plain = {"id": None, "arrival": None, "at": at, "system": system, "operation": operation, "item": None}
    rest = {"reference": reference, "arguments": arguments, "planted": planted, "late": False, "stored": True}
    return plain | marks | rest


def _stored(outside: Outside, row: Row, found: dict[str, Row]) -> bool:
    """Whether the storage still has the effect; rows of the ledger's own file were written in its transaction."""
    if row["system"] == "files":
        return (outside.files / str(row["reference"])).exists()
    return row["system"] not in ("config", "mail") or row["reference"] in found


def _disagreement(row: Row) -> str | None:
    if row["stored"] and row["counted"]:
        return None
    where = "counted, but not in the storage" if row["counted"] else "in the storage, but not counted"
    marks = json.dumps({name: row[name] for name in IDENTITY if row[name]})
    return f"{row['system']} {row['reference']} {marks}: {where}"


def _wanted(row: Row, wanted: dict[str, Any]) -> bool:
    since = wanted.get("since")
    exact = {name: value for name, value in wanted.items() if name != "since" and value is not None}
    return bool(row["at"] >= (since or 0.0) and row.items() >= exact.items())
