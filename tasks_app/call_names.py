"""What a call may be called, and how its name stands in an address: a browser resolves ".." before it sends one."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.urls import register_converter

NAME_LENGTH = 120
MARK = "~"
_DOTS = frozenset({".", ".."})


def name_refusal(name: object) -> str:
    """Return why nothing may be called this; empty if it may."""
    if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        return f"A name is 1 to {NAME_LENGTH} printable characters."
    if not _DOTS.isdisjoint(parts := name.split("/")) or "" in parts:
        return "No part of a name between slashes is empty, '.' or '..': its address would be that of another call."
    return ""


class CallName:
    """A call's name as the part of an address; one that an address cannot hold as it is stands there encoded.

    Such names are refused now; what was recorded before must still be settled, and never by another call's address.
    """

    regex = ".+"

    def to_python(self, value: str) -> str:
        """Return the name that an address means."""
        name = _decoded(value.removeprefix(MARK)) if value.startswith(MARK) else ""
        return name if _must_be_encoded(name) else value

    def to_url(self, value: str) -> str:
        """Return the name as it stands in an address: no part of it is "." or ".."."""
        name = str(value)
        return MARK + urlsafe_b64encode(name.encode()).decode().rstrip("=") if _must_be_encoded(name) else name


def _must_be_encoded(name: str) -> bool:
    return name.startswith(MARK) or not _DOTS.isdisjoint(name.split("/"))


def _decoded(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


register_converter(CallName, "call_name")
