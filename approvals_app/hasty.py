"""Was it read? A card answered faster than its arguments can be read is marked. Pure: no Django."""

from datetime import datetime

from approvals_app.status import Via

AT_LEAST = 1.0  # seconds: nobody reads a card of any size faster
PER_SECOND = 120.0  # characters that a quick eye takes in: twice as many as a quick reader's
MOST = 60.0  # seconds; beyond a screen or two people look for what matters


def reading_seconds(size: int) -> float:
    """Return how long arguments of that size (characters) take at the very least, in seconds."""
    return min(AT_LEAST + size / PER_SECOND, MOST)


def is_hasty(*, size: int, opened: datetime | None, answered: datetime, via: Via | str) -> bool:
    """Tell whether an answer came faster than the card can be read; by page only, others read elsewhere."""
    if via != Via.PAGE:
        return False
    return opened is None or (answered - opened).total_seconds() < reading_seconds(size)
