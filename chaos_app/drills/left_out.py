"""The cells of the table that no suite runs, each with its reason; reports always print them. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from chaos_app.drills.cells import EVERYWHERE, Discovered, places, workload_of
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.rows import EFFECTS, ROWS, Row
from chaos_app.drills.where import why_not


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Cells that are not run, and why."""

    row: str
    position: str
    klass: str
    fault: str
    reason: str


def left_out(discovered: Discovered | None = None) -> tuple[LeftOut, ...]:
    """Return the cells of the table that are not run, each with its reason; reports always print them."""
    found = [
        LeftOut(row=row.id, position="every", klass=str(klass), fault="every", reason=_why_not(row, klass))
        for row in ROWS
        for klass in (*EFFECTS, Klass.NONE)
        if klass not in row.classes
    ]
    found += [
        LeftOut(row=row.id, position="every", klass="every", fault=str(fault), reason=why)
        for row in ROWS
        for fault in EVERYWHERE
        if row.positions and (why := why_not(row.id, fault))
    ]
    every = {"row": "every", "position": "every", "klass": "every"}
    walled = "The drills' tools run in the worker itself, which must hold the request when it dies."
    found.append(LeftOut(**every, fault=str(Fault.SANDBOX), reason=walled))
    if discovered is not None:
        found += _unpassed(discovered)
    return tuple(found)


def _why_not(row: Row, klass: Klass) -> str:
    if klass == Klass.NONE:
        return "A call without an effect leaves nothing outside that could be repeated or lost."
    if row.id in {"E08", "E10"}:
        return "The tool has no look-up, so that nothing is ever read back."
    if row.id == "E09":
        return "A tool of this class is not looked up after an unknown outcome."
    return "Only calls with several items have this place, and the built-in one is keyed by item."


def _unpassed(discovered: Discovered) -> Iterator[LeftOut]:
    for row in ROWS:
        for klass in row.classes:
            for position, place in places(row):
                if place and not workload_of(row, klass, place, discovered):
                    reason = "No workload of this class passes the place."
                    yield LeftOut(row=row.id, position=position, klass=str(klass), fault="every", reason=reason)
