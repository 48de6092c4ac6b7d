"""Sentences for what a sandbox was given and what left it: credentials and connections. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.timeline.parts import Line, Part, line, name, quote

Data = Mapping[str, Any]
_FOR = {
    "execute": "to act",
    "start": "to begin",
    "poll": "to ask how it stands",
    "find": "to look up",
    "verify": "to read back",
    "seen": "to read what it will compare",
}


def _issued(data: Data, by: Part) -> Line:
    what = ("Credential ", name(data.get("credential")), " granted to ", name(data.get("name")))
    until = str(data.get("expires_at", ""))[11:19]
    return line(*what, f" {_FOR.get(str(data.get('role')), '')}, once, until {until} UTC")


def _used(data: Data, by: Part) -> Line:
    return line(
        "Credential ", name(data.get("credential")), " handed to ", name(data.get("name")), "; its grant is used"
    )


def _expired(data: Data, by: Part) -> Line:
    return line("Grant of ", name(data.get("credential")), " to ", name(data.get("name")), " ended unused")


def _revoked(data: Data, by: Part) -> Line:
    taken = (" took back ", name(data.get("credential")), " from ", name(data.get("name")))
    return line(by, *taken, "; what held it was ended", tone="person", glyph="person")


def _connected(data: Data, by: Part) -> Line:
    who, place = name(data.get("name")), name(data.get("place"))
    if data.get("refused"):
        return line(who, " was not let through to ", place, *quote(data.get("refused")), tone="bad", glyph="stopped")
    sizes = f": {data.get('sent'):,} bytes out, {data.get('received'):,} in" if _counted(data) else ""
    return line(who, " connected to ", place, sizes)


def _counted(data: Data) -> bool:
    return isinstance(data.get("sent"), int) and isinstance(data.get("received"), int)


SANDBOX_WORDS: Mapping[str, Callable[[Data, Part], Line]] = {
    "credential.issued": _issued,
    "credential.used": _used,
    "credential.expired": _expired,
    "credential.revoked": _revoked,
    "egress.connected": _connected,
}
