"""Tickets: a *keyed* tool. The provider acts at most once per key, so a resend is safe and needs no look-up."""

from typing import Literal

from pydantic import BaseModel, Field

from chaos_app.incidents.outside import LAG, TIMEOUT, post, read
from chaos_app.incidents.walls import WEB, look_at, reaching
from tasks_app.contracts import Absent, Answer, CallContext, EffectClass, Found, LookUp, Observed
from tasks_app.criteria import Observation, check
from tasks_app.registry import tool


class NewTicket(BaseModel):
    """The ticket as it is to be."""

    title: str = Field(min_length=1, max_length=300)
    body: str = ""
    service: str
    severity: Literal["low", "minor", "major", "critical"] = "minor"


FIELDS = tuple(NewTicket.model_fields)


def ticket_find(key: str) -> LookUp:
    """Look for a ticket that carries the key."""
    found = read("/tickets", key=key)["tickets"]
    if not found:
        return Absent()
    first = found[0]
    return Found(
        reference=first["id"], arguments={name: first[name] for name in FIELDS}, result={"ticket": first["id"]}
    )


def ticket_verify(wanted: NewTicket, answer: Answer) -> Observed:
    """Read the ticket by its number, and count the tickets that carry its key."""
    ticket = read(f"/tickets/{answer.result['ticket']}")
    copies = len(read("/tickets", key=ticket["key"])["tickets"])
    same = all(ticket[name] == getattr(wanted, name) for name in FIELDS)
    seen = {"ticket": ticket["id"], "state": ticket["state"], "copies": copies}
    return Observed(matches=same and copies == 1, seen=seen, reference=ticket["id"])


def ticket_preview(wanted: NewTicket) -> str:
    """Say what will happen."""
    return f"Open a {wanted.severity} ticket for {wanted.service}: {wanted.title}"


@tool(
    "ticket.open",
    arguments=NewTicket,
    effect_class=EffectClass.KEYED,
    timeout=TIMEOUT,
    lag=LAG,
    once_per="{id}",
    resource="tickets/{service}",
    find=ticket_find,
    verify=ticket_verify,
    preview=ticket_preview,
    how_to_check="Search the tickets of the service for the incident's number." + look_at("tickets"),
    **reaching(WEB),
)
def ticket_open(wanted: NewTicket, context: CallContext) -> Answer:
    """Open a ticket. The key travels as ``Idempotency-Key``: the same key is answered with the same ticket."""
    ticket = post(context, "/tickets", wanted.model_dump())
    return Answer(result={"ticket": ticket["id"]}, reference=ticket["id"])


@check("ticket.exists")
def ticket_exists(*, service: str, incident: str) -> Observation:
    """Hold where exactly one ticket of the service names the incident."""
    found = [t["id"] for t in read("/tickets", service=service)["tickets"] if t["title"].startswith(f"{incident}: ")]
    return Observation(holds=len(found) == 1, expected=f"one ticket about {incident}", seen=found)
