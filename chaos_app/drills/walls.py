"""Whether the drills' tools run between walls (``drill run --sandbox``), and what their contracts say of it."""

import os
from typing import Any

from chaos_app.incidents.walls import MAIL, WEB, reaching

VARIABLE = "HANDRAIL_DRILL_SANDBOX"
UNWALLED: dict[str, Any] = {
    "sandbox": "none",
    "sandbox_reason": "They are the drill's own, act on the drill's own world alone, and start sooner so.",
}


def are_walled() -> bool:
    """Whether this process's drill puts its tools into sandboxes."""
    return bool(os.environ.get(VARIABLE))


def walls() -> dict[str, Any]:
    """Return what a tool's contract says of its sandbox: with walls, the drill's world is the one thing it reaches."""
    return reaching(WEB, MAIL) if are_walled() else UNWALLED
