"""Separation of duties: the one function that page, API, admin and command ask (rule 6, case-14 variant)."""

from collections.abc import Mapping, Sequence
from typing import Any

EDITED = "edited the arguments"


def barred(*, never: Sequence[Mapping[str, Any]], username: str) -> str | None:
    """Say why this person's answer never counts for a request, or None.

    ``never``: entries {user, why}: who started the task, answers for it, or last edited the arguments.
    """
    whys = [str(entry["why"]) for entry in never if entry["user"] == username]
    return f"You {' and '.join(whys)}: somebody else has to decide." if whys else None


def parties(*, starter: str | None, owner: str, editor: str | None = None) -> list[dict[str, str]]:
    """Return who must not decide a call of a task, with the reason, as it is kept with the request."""
    named = [(starter, "started this task"), (owner, "own this task"), (editor, EDITED)]
    return [{"user": user, "why": why} for user, why in named if user]
