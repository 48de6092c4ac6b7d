"""What was decided about a call holds only as long as the call stands as it did: others may answer for it meanwhile.

A late receipt, a person or a command appends beside the worker that holds the task. An event that is only told may be
committed behind theirs; a change of a call's state that was decided on the row before theirs may not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.boundaries import Boundary
from tasks_app.models import Call
from tasks_app.record.append import CallChange, Stale
from tasks_app.record.events import Event
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.session import Session


def standing(row: Call | None) -> tuple[str, int, int | None, int | None] | None:
    """Return what decisions about a call go by; None where it is not open any more."""
    return (row.state, row.attempts, row.answer_seq, row.settled_seq) if row is not None else None


def call_commit(
    session: Session,
    row: Call,
    events: Sequence[Event],
    *,
    set: Mapping[str, Any],
    boundary: Boundary,
    inside: Callable[[], Inside] | None = None,
) -> bool:
    """Commit what was decided about a call on ``row``: events, and the change of its row.

    False, and nothing is written, where somebody else has changed the call since: think again. What others appended
    beside it stands in the way of nothing.
    """
    decided_on, change = standing(row), CallChange(name=row.name, set=set)
    while standing(session.open.get(row.name)) == decided_on:
        try:
            session.commit(events, calls=[change], boundary=boundary, inside=inside, call=row.name)
        except Stale as stale:
            if stale.refusal != "moved":
                raise
            session.refresh()
        else:
            return True
    return False
