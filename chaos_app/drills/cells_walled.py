"""The cases that exist only where tools run in sandboxes: a sandbox dies while its request is outside. Pure."""

from collections.abc import Iterator

from chaos_app.drills.cells import DRILLED, Cell
from chaos_app.drills.names import Fault
from chaos_app.drills.rows import BY_ID
from core.boundaries import Position

PLACES = (("E03", Position.IN_FLIGHT), ("E04", Position.APPLIED))


def of_sandboxes(suite: str) -> Iterator[Cell]:
    """Yield them, once a class and place."""
    for row, position in PLACES:
        for klass in BY_ID[row].classes:
            yield Cell(
                row=row,
                position=str(position),
                klass=klass,
                fault=Fault.SANDBOX,
                workload="act",
                place=(row, str(position)),
                call=DRILLED,
                suite=suite,
            )
