"""The outside that this agent acts on, and the count of it that a drill asks for.

Here it is a board in a SQLite file, so that everything runs at once. Put requests to your own system in its place, and
let ``ledger`` ask that system (a test account of it, for drills) what has really happened: it is called outside of the
worker, and what it says decides whether an effect was repeated or lost.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BOARD = "OWN_AGENT_BOARD"  # names the file
ROOMS = {"lobby", "kitchen", "yard"}


class Away(Exception):
    """The board cannot be reached."""


class NoSuchRoom(Exception):
    """The board has no such room; nothing was posted."""


@dataclass(frozen=True)
class Note:
    """One note on the board, with the marks of the call that made it."""

    number: str
    room: str
    text: str
    key: str
    business_key: str


def post(room: str, text: str, *, key: str, business_key: str | None) -> str:
    """Put a note up and return its number. Each request puts one up: this board knows nothing of keys."""
    if room not in ROOMS:
        raise NoSuchRoom(f"There is no room {room!r}; there are {', '.join(sorted(ROOMS))}.")
    with _board() as board:
        values = (room, text, key, business_key or "")
        made = board.execute("INSERT INTO note (room, text, key, business_key) VALUES (?, ?, ?, ?)", values)
        return f"N-{made.lastrowid}"


def notes(*, key: str | None = None) -> list[Note]:
    """List the notes, those of one key or all. Raises Away."""
    with _board() as board:
        rows = board.execute(
            "SELECT id, room, text, key, business_key FROM note WHERE key = ? OR ? IS NULL ORDER BY id", (key, key)
        )
        return [Note(f"N-{number}", *rest) for number, *rest in rows]


def ledger() -> list[dict[str, str]]:
    """Return every effect there is: its key, its business key, its reference. This is the witness of a drill."""
    return [{"key": note.key, "business_key": note.business_key, "reference": note.number} for note in notes()]


@contextmanager
def _board() -> Iterator[sqlite3.Connection]:
    path = Path(os.environ.get(BOARD) or Path(tempfile.gettempdir()) / "own_agent.sqlite3")
    try:
        board = sqlite3.connect(path, timeout=5)
    except sqlite3.OperationalError as error:
        raise Away(f"{path}: {error}") from error
    try:
        with board:
            board.execute(
                "CREATE TABLE IF NOT EXISTS note"
                " (id INTEGER PRIMARY KEY, room TEXT, text TEXT, key TEXT, business_key TEXT)"
            )
            yield board
    finally:
        board.close()
