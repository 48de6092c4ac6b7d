"""The walls around these tools: each reaches the systems that it works on, by host and port, and nothing else."""

import os
from typing import Any
from urllib.parse import urlsplit

WEB, MAIL = "HANDRAIL_WORLD_URL", "HANDRAIL_WORLD_SMTP"


def reaching(*systems: str) -> dict[str, Any]:
    """Return what a contract says of its sandbox. ``systems``: variables that hold the addresses.

    They are told inside; the outside world of a demo or a drill is on this machine, which a contract must declare.
    """
    places = tuple(place_of(address) for address in map(address_in, systems) if address)
    return {"network": places, "private_network": frozenset(places), "environment": systems}


def address_in(variable: str) -> str:
    """Return the address that a variable holds, with a name for its host; an empty text where there is none."""
    return named(os.environ.get(variable, ""))


def look_at(system: str) -> str:
    """Return where a person sees one of the systems, as a sentence; an empty text where nobody has said its address."""
    address = address_in(WEB)
    return f" See {address}/#{system}" if address else ""


def named(address: str) -> str:
    """Return an address with a name for its host: a contract names hosts, not numbers, so that people can read it."""
    return address.replace("127.0.0.1", "localhost")


def place_of(address: str) -> str:
    """Return host and port of an address, with a scheme or without."""
    return urlsplit(address if "://" in address else f"//{address}").netloc
