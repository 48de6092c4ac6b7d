"""Which case shows which planted bug: the same engines, on workers in which one guarantee is missing."""

from chaos_app.drills import bug_names as bugs
from chaos_app.drills.cells import Cell
from chaos_app.drills.names import Fault, Klass


def _cell(row: str, position: str, klass: Klass, *, fault: Fault = Fault.KILL, **more: object) -> Cell:
    place = more.pop("place", (row, position))
    form = {"workload": "act", "call": "act", "suite": "bugs", "place": place, **more}
    return Cell(row=row, position=position, klass=klass, fault=fault, **form)  # type: ignore[arg-type]


K, R = Klass.KEYED, Klass.READABLE
PLANTED: dict[str, Cell] = {
    bugs.NEW_KEY: _cell("E04", "applied", K),
    bugs.ASSUME_DONE: _cell("E02", "before_send", R),
    bugs.NO_WAIT: _cell("E03", "in_flight", R),
    bugs.NO_TOKEN: _cell("L05", "situation", K, fault=Fault.ZOMBIE, place=("E05", "before")),
    bugs.TWICE: _cell("A06", "after", K, workload="asked"),
    bugs.NOT_LOOKED: _cell("E10", "situation", K, fault=Fault.EFFECT_PLANTED, place=("E08", "before")),
    bugs.AGAIN: _cell("L03", "after", K, workload="twice", call=None),
    bugs.SIBLING: _cell("E02", "before_send", R, workload="chain", call="act-2"),
}
