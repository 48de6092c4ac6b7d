"""Which engine plays which cell."""

from collections.abc import Iterable

from chaos_app.drills.acting import Invalid, Many
from chaos_app.drills.answers import TOLD, Told
from chaos_app.drills.case import Case
from chaos_app.drills.cells import Cell
from chaos_app.drills.deciding import Deciding, Edited
from chaos_app.drills.inward import Inward
from chaos_app.drills.kills import Killed
from chaos_app.drills.left_out import LeftOut, everywhere_left
from chaos_app.drills.losing import Forsaken, Hang, Zombie
from chaos_app.drills.messages import Messages
from chaos_app.drills.names import Fault
from chaos_app.drills.set_back import SetBack
from chaos_app.drills.sweeping import Sweeping
from chaos_app.drills.walled import SandboxKilled
from chaos_app.drills.wide import WIDE, Wide

ENGINES: dict[Fault, type[Case]] = {
    **dict.fromkeys(WIDE, Wide),  # some of these have another one, below
    Fault.CONNECTION_CUT: Wide,
    Fault.KILL: Killed,
    **dict.fromkeys([*TOLD, Fault.EFFECT_HIDDEN], Told),
    Fault.ZOMBIE: Zombie,
    Fault.FORSAKEN: Forsaken,
    Fault.HANG: Hang,
    **dict.fromkeys([Fault.EXPIRED, Fault.REVOKED, Fault.CANCELLED, Fault.STOPPED], Invalid),
    Fault.RESUMED_BY_MANY: Many,
    **dict.fromkeys([Fault.EXCEPTION, Fault.CLOCK], Inward),
    **dict.fromkeys([Fault.SWEEPER, Fault.TWO_SWEEPERS], Sweeping),
    **dict.fromkeys([Fault.MESSAGE_LOST, Fault.MESSAGE_TWICE], Messages),
    Fault.DECIDED_TWICE: Deciding,
    Fault.EDITED: Edited,
    Fault.FAILOVER: SetBack,
    Fault.SANDBOX: SandboxKilled,
}


def engine_of(cell: Cell) -> type[Case] | None:
    """Return the engine; None where there is none for this fault."""
    return ENGINES.get(cell.fault)


def unbuilt(cells: Iterable[Cell]) -> list[LeftOut]:
    """Return what the table wants and no engine can do, once a fault kind."""
    found = {cell.fault: cell for cell in cells if engine_of(cell) is None}
    return [everywhere_left(fault, "Nothing here can make this fault.") for fault in found]
