"""Entries: how one thing in each outside system is put into words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chaos_app.world.markup import Markup, el, joined

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """What the page says of one row: its reference there, one line, a shorter label, badges, and more."""

    reference: str
    title: str
    at: float | None = None
    label: str | None = None
    badges: tuple[str, ...] = ()
    body: Markup | None = None


def ticket(row: Row) -> Entry:
    """A ticket and its comments."""
    remarks = [el("p", comment["body"], class_="remark") for comment in row["comments"]]
    body = joined(el("p", row["body"], class_="text") if row["body"] else None, *remarks)
    badges = (row["state"], row["severity"], *([row["service"]] if row["service"] else []))
    return Entry(row["id"], row["title"], row["at"], badges=badges, body=body)


def message(row: Row) -> Entry:
    """A kept message."""
    people = el("p", f"{row['sender']} → {row['to']}", class_="people")
    body = joined(people, el("p", row["body"].strip(), class_="text"))
    label = f"<{row['message_id']}>" if row["message_id"] else "no Message-ID"
    return Entry(row["reference"], row["subject"] or "(no subject)", row["at"], label, body=body)


def commit(row: Row) -> Entry:
    """A change of a service's configuration with its difference."""
    badges = ("first configuration",) if row["seeded"] else (row["service"],)
    body = None if row["seeded"] else difference(row["diff"])
    return Entry(row["version"], row["subject"], row["at"], row["version"][:10], badges, body)


def payment(row: Row) -> Entry:
    """Money that left."""
    amount = f"{row['currency']} {row['cents'] // 100}.{row['cents'] % 100:02d}"
    body = el("p", row["memo"], class_="text") if row["memo"] else None
    return Entry(row["id"], f"{amount} to {row['payee']}", row["at"], body=body)


def notice(row: Row) -> Entry:
    """One item of a batch."""
    return Entry(row["id"], row["text"], row["at"], badges=(f"#{row['room']}",))


def job(row: Row) -> Entry:
    """Long work."""
    return Entry(row["handle"], f"{row['kind']}, {row['seconds']:g} s", row["started_at"], badges=(row["state"],))


def file(row: Row) -> Entry:
    """A deliverable."""
    digest = el("p", el("code", f"sha-256 {row['digest']}"), class_="digest")
    return Entry(row["name"], f"{row['size']:,} bytes, {row['media_type']}", row["at"], body=digest)


def stock(row: Row) -> Entry:
    """An article that was asked for."""
    return Entry(row["sku"], f"read {row['reads']} times" if row["reads"] != 1 else "read once")


def difference(diff: str) -> Markup:
    """A unified diff without its headers, each line marked by sign and colour."""
    lines = diff.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    shown = [_line(line) for line in lines[start:] if not line.startswith(("@@", "\\"))]
    if not shown:
        return el("p", "Nothing differs from the version before.", class_="text")
    return el("div", *shown, class_="diff")


def _line(line: str) -> Markup:
    kind = {"+": "added", "-": "removed"}.get(line[:1])
    return el("code", line, class_=kind)


ENTRIES: dict[str, Callable[[Row], Entry]] = {
    "tickets": ticket,
    "mail": message,
    "config": commit,
    "payments": payment,
    "batch": notice,
    "jobs": job,
    "files": file,
    "stock": stock,
}
