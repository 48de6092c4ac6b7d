"""What the agent writes: the texts of its ticket, its reasons, its credit, its mail and its summary. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from chaos_app.incidents.incident import Incident
from tasks_app.view import CallView

QUOTED = 3  # sentences of a report that a reason quotes at most
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FIGURE = re.compile(r"\d")
_OWED = re.compile(r"\b(owed|credit|credited|paid|pay|charge)\b")


def ticket(incident: Incident) -> dict[str, Any]:
    """Return the arguments of ``ticket.open``."""
    return {
        "title": f"{incident.id}: {incident.title}",
        "body": incident.report,
        "service": incident.service,
        "severity": incident.severity,
    }


def change_reason(incident: Incident, setting: str, *, was: float, value: float) -> str:
    """Say why a setting is to be changed, with the figures of the report that speak for it."""
    bounds = incident.tolerances[setting]
    allowed = f"{_plain(bounds.min)} to {_plain(bounds.max)} {bounds.unit}".strip()
    return (
        f"{incident.direction.capitalize()} {setting} from {_plain(was)} to {_plain(value)} (allowed: {allowed})."
        f" {incident.id}: {incident.title}.{_quoted(incident, _FIGURE)}"
    )


def credit_reason(incident: Incident) -> str:
    """Say why a vendor is to be paid: because of which incident, and what its report says of it."""
    return (
        f"{incident.vendor} is owed this because of {incident.id}: {incident.title}.{_quoted(incident, _OWED)}"
        " The amount is the one that the incident names."
    )


def _quoted(incident: Incident, telling: re.Pattern[str]) -> str:
    found = [sentence for sentence in _SENTENCE.split(incident.report) if telling.search(sentence)][:QUOTED]
    return f" The report says: “{' '.join(found)}”" if found else ""


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def credit(incident: Incident) -> dict[str, Any]:
    """Return the arguments of ``vendor.credit``."""
    return {"payee": incident.vendor, "cents": incident.credit_cents, "memo": f"Credit for {incident.id}"}


def mail(incident: Incident, done: Sequence[CallView]) -> dict[str, Any]:
    """Return the arguments of ``mail.notify``."""
    lines = [f"Incident {incident.id} of {incident.service}: {incident.title}.", "", *map(line, done)]
    lines += ["", "Please watch the service, and reopen the ticket if it is not well."]
    return {
        "to": incident.on_call,
        "subject": f"{incident.id}: {incident.service} was changed",
        "body": "\n".join(lines),
    }


def summary(incident: Incident, done: Sequence[CallView]) -> str:
    """Return the claim of completion in a sentence a call."""
    return f"{incident.id}: " + " ".join(map(line, done))


def line(call: CallView) -> str:
    """Say in one sentence what became of a call."""
    said = call.arguments
    match call.tool:
        case "ticket.open":
            what = f"Ticket {call.reference}"
        case "config.change":
            what = f"{said['setting']} from {said['was']} to {said['value']}"
        case _:
            what = f"Credit of {said['cents'] / 100:,.2f} {said['currency']} to {said['payee']}"
    if call.ok:
        return f"{what}: done."
    if call.unverified:
        return f"{what}: nobody knows whether it happened."
    return f"{what}: not done ({(call.refusal or {}).get('reason', call.state.value)})."
