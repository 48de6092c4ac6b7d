"""Duties over many rows: one row that cannot be done stops no other."""

from collections.abc import Callable, Iterable

import structlog

from core.database_trouble import database_away

log = structlog.get_logger(__name__)


def row_by_row[T](rows: Iterable[T], act: Callable[[T], int]) -> int:
    """Act on each row, in a transaction of its own; return the sum of what the acts return.

    What an act raises is logged, and the row is met again at the next look. Raises where the database is away: then
    nothing is known about any row.
    """
    done = 0
    for row in rows:
        try:
            done += act(row)
        except Exception as error:
            if database_away(error):
                raise
            log.exception("row_failed", act=getattr(act, "__qualname__", repr(act)), row=str(getattr(row, "pk", row)))
    return done
