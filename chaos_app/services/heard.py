"""Whether a run is still under way: by the lock that its controller holds, and else by how long it may last."""

from datetime import timedelta
from pathlib import Path

from chaos_app.drills.place import is_held
from chaos_app.models import DrillRun
from core.clock import database_now

UNHEARD = timedelta(seconds=60)  # until a controller that never began counts as failed
STOPS_WITHIN = timedelta(minutes=2)  # an asked controller that nobody here can see
NEVER_BEGAN = "Its controller ended before it began."
NOTHING_MORE = "Nothing more was heard of it: its files are not here, and it would be over by now."


def is_alive(run: DrillRun) -> bool | None:
    """Whether its controller lives; None where nobody here can tell: it has no folder yet, or none on this host."""
    return is_held(Path(run.folder)) if run.folder else None


def never_began(run: DrillRun) -> bool:
    """Whether a run that has not begun will not any more: its launcher died, or its controller did at once."""
    return run.state == "starting" and database_now() - run.launched_at > UNHEARD


def is_overdue(run: DrillRun, *, minutes: float) -> bool:
    """Whether a run would be over by now, wherever it is played: so long it lasts at most, or it was asked to stop."""
    now = database_now()
    if run.stop_asked_at and now - run.stop_asked_at > STOPS_WITHIN:
        return True
    return now - run.launched_at > timedelta(minutes=minutes)
