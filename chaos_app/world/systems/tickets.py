"""Tickets: keyed. The same Idempotency-Key gets the same answer; a ticket can be found by its key."""

import time
from typing import Annotated, Literal

from pydantic import Field

from chaos_app.world.errors import Refused
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Input, Reply, Visit

SYSTEM = "tickets"
Text = Annotated[str, Field(max_length=20_000)]


class NewTicket(Input):
    """A ticket as it is opened."""

    title: Annotated[str, Field(min_length=1, max_length=300)]
    body: Text = ""
    service: Annotated[str, Field(max_length=100)] = ""
    severity: Literal["low", "minor", "major", "critical"] = "minor"


class NewComment(Input):
    """A remark on a ticket."""

    body: Annotated[Text, Field(min_length=1)]


class Closing(Input):
    """Why a ticket is closed."""

    reason: Text = ""


def ticket_open(outside: Outside, visit: Visit) -> Reply:
    """Open a ticket; without a key, each request opens another one."""
    new = visit.read(NewTicket)
    storage = outside.storage
    row_id = storage.run(
        "INSERT INTO ticket (at, key, title, body, service, severity, planted) VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(time.time(), visit.marks.key, new.title, new.body, new.service, new.severity, visit.planted),
    )
    outside.ledger.effect(visit, reference=f"T-{row_id}", arguments=visit.arguments)
    return Reply(201, tickets_shown(storage, "id = ?", row_id)[0], {"Location": f"/tickets/T-{row_id}"})


def tickets_find(outside: Outside, visit: Visit) -> Reply:
    """Tickets by ``key`` and ``service``; without either, all of them."""
    key, service = visit.query.get("key"), visit.query.get("service")
    rows = tickets_shown(
        outside.storage, "(? IS NULL OR key = ?) AND (? IS NULL OR service = ?)", key, key, service, service
    )
    return Reply(200, {"tickets": visit.seen(rows), "complete": True})


def ticket_get(outside: Outside, visit: Visit) -> Reply:
    """One ticket with its comments."""
    return Reply(200, _ticket(outside, visit))


def ticket_comment(outside: Outside, visit: Visit) -> Reply:
    """Add a comment."""
    new, ticket = visit.read(NewComment), _ticket(outside, visit)
    comment_id = _comment(outside, visit, ticket, new.body)
    outside.ledger.effect(visit, reference=f"{ticket['id']}#{comment_id}", arguments=visit.arguments)
    return Reply(201, _ticket(outside, visit))


def ticket_close(outside: Outside, visit: Visit) -> Reply:
    """Close a ticket. Closing a closed one changes nothing and counts as no effect."""
    closing, ticket = visit.read(Closing), _ticket(outside, visit)
    if ticket["state"] == "closed":
        return Reply(200, ticket)
    outside.storage.run("UPDATE ticket SET state = 'closed' WHERE id = ?", _number(ticket["id"]))
    if closing.reason:
        _comment(outside, visit, ticket, closing.reason)
    outside.ledger.effect(visit, reference=ticket["id"], arguments=visit.arguments)
    return Reply(200, _ticket(outside, visit))


def tickets_shown(storage: Storage, where: str = "1", *values: object) -> list[Row]:
    """Tickets as the API shows them, oldest first."""
    rows = storage.select("ticket", where, *values)
    comments = storage.rows("SELECT ticket, at, key, body FROM comment ORDER BY id") if rows else []
    return [
        row
        | {"id": f"T-{row['id']}", "planted": bool(row["planted"])}
        | {"comments": [comment for comment in comments if comment["ticket"] == row["id"]]}
        for row in rows
    ]


def _comment(outside: Outside, visit: Visit, ticket: Row, body: str) -> int:
    return outside.storage.run(
        "INSERT INTO comment (ticket, at, key, body) VALUES (?, ?, ?, ?)",
        *(_number(ticket["id"]), time.time(), visit.marks.key, body),
    )


def _ticket(outside: Outside, visit: Visit) -> Row:
    wanted = visit.parameters["id"]
    found = tickets_shown(outside.storage, "id = ?", _number(wanted))
    if not visit.seen(found):
        raise Refused(404, "not_found", f"There is no ticket {wanted}.")
    return found[0]


def _number(ticket_id: str) -> int:
    digits = ticket_id.removeprefix("T-")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 18 else 0


OPERATIONS = [
    Operation(SYSTEM, "open", "POST", "/tickets", ticket_open, keyed=True),
    Operation(SYSTEM, "lookup", "GET", "/tickets", tickets_find, acts=False),
    Operation(SYSTEM, "read", "GET", "/tickets/{id}", ticket_get, acts=False),
    Operation(SYSTEM, "comment", "POST", "/tickets/{id}/comments", ticket_comment, keyed=True),
    Operation(SYSTEM, "close", "POST", "/tickets/{id}/close", ticket_close, keyed=True),
]
