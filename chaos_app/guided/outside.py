"""The outside world as the right half shows it: each thing in a line, what happened twice in red. Pure."""

from collections.abc import Mapping
from typing import Any

from chaos_app.world.entries import ENTRIES

SYSTEMS = {
    "tickets": ("Tickets", "one ticket per key"),
    "config": ("Configuration", "refuses what is out of date"),
    "payments": ("Payments", "no key, no look-up: each request pays"),
    "mail": ("Mail", "can be looked up"),
}
MOST = 6
LONGEST = 400  # characters of a title

Json = dict[str, Any]


def outside_shown(state: Mapping[str, Any]) -> list[Json]:
    """Return the systems with their newest things, from the world's own account of itself."""
    twice = {(g["system"], reference): g["count"] for g in state["repetitions"] for reference in g["references"]}
    return [
        {"name": name, "heading": heading, "promise": promise, "entries": _entries(name, state[name], twice)}
        for name, (heading, promise) in SYSTEMS.items()
    ]


def _entries(name: str, rows: list[Json], twice: Mapping[tuple[str, str], int]) -> list[Json]:
    made = [(row, ENTRIES[name](row)) for row in rows if not row.get("seeded")]
    return [
        {
            "reference": entry.reference,
            "label": entry.label or entry.reference,
            "title": entry.title[:LONGEST],
            "at": entry.at,
            "times": twice.get((name, entry.reference), 0),
            "unprotected": "none-" in str(row.get("key") or row.get("memo") or ""),
        }
        for row, entry in made[:MOST]
    ]
