"""Which engine plays which cell."""

from chaos_app.drills.acting import Invalid, Many
from chaos_app.drills.answers import TOLD, Told
from chaos_app.drills.case import Case
from chaos_app.drills.cells import Cell
from chaos_app.drills.kills import Killed
from chaos_app.drills.losing import Hang, Zombie
from chaos_app.drills.names import Fault
from chaos_app.drills.wide import WIDE, Wide

ENGINES: dict[Fault, type[Case]] = {
    **dict.fromkeys(WIDE, Wide),
    Fault.KILL: Killed,
    **dict.fromkeys([*TOLD, Fault.EFFECT_HIDDEN], Told),
    Fault.ZOMBIE: Zombie,
    Fault.HANG: Hang,
    **dict.fromkeys([Fault.EXPIRED, Fault.REVOKED, Fault.CANCELLED, Fault.STOPPED], Invalid),
    Fault.RESUMED_BY_MANY: Many,
}


def engine_of(cell: Cell) -> type[Case] | None:
    """Return the engine; None where there is none for this fault."""
    return ENGINES.get(cell.fault)
