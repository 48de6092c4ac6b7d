"""Whether the drills' tools run between walls (``drill run --sandbox``), and what their contracts say of it."""

import os
from typing import Any
from urllib.parse import urlsplit

VARIABLE = "HANDRAIL_DRILL_SANDBOX"
ADDRESSES = ("HANDRAIL_WORLD_URL", "HANDRAIL_WORLD_SMTP")
UNWALLED: dict[str, Any] = {
    "sandbox": "none",
    "sandbox_reason": "They are the drill's own, act on the drill's own world alone, and start sooner so.",
}


def are_walled() -> bool:
    """Whether this process's drill puts its tools into sandboxes."""
    return bool(os.environ.get(VARIABLE))


def walls() -> dict[str, Any]:
    """Return what a tool's contract says of its sandbox: with walls, the drill's world is the one thing it reaches."""
    if not are_walled():
        return UNWALLED
    places = tuple(urlsplit(_url(os.environ[name])).netloc for name in ADDRESSES if name in os.environ)
    return {"network": places, "private_network": frozenset(places), "environment": ADDRESSES}


def _url(address: str) -> str:
    return address if "://" in address else f"smtp://{address}"


def named(address: str) -> str:
    """Return an address with a name for its host: a contract names hosts, not numbers."""
    return address.replace("127.0.0.1", "localhost")
