"""The cells of the table that no suite runs, each with its reason; reports always print them. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaos_app.drills.cells import EVERYWHERE, Cell, Discovered, places, workload_of
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.rows import EFFECTS, ROWS, Row
from chaos_app.drills.where import why_not


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Cells that are not run, and why. ``cut``: the run was to play it and did not; then the run is not complete."""

    row: str
    position: str
    klass: str
    fault: str
    reason: str
    cut: bool = False


def cell_left(cell: Cell, why: str) -> LeftOut:
    """Return one cell that was to be played, and was not."""
    klass, fault = str(cell.klass), str(cell.fault)
    return LeftOut(row=cell.row, position=cell.position, klass=klass, fault=fault, reason=why, cut=True)


def everywhere_left(fault: Fault, why: str) -> LeftOut:
    """Return a kind of fault as left out at every place."""
    return LeftOut(row="every", position="every", klass="every", fault=str(fault), reason=why)


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """What was left out for one reason. ``where``: (row, its classes), each row once."""

    reason: str
    fault: str
    where: tuple[tuple[str, tuple[str, ...]], ...]


def gathered(cells: Iterable[LeftOut]) -> tuple[Gathered, ...]:
    """Return what was left out by its reason, so that people can read it."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in cells:
        rows = found.setdefault((one.reason, one.fault), {})
        classes = rows.setdefault(one.row, [])
        classes += [one.klass] if one.klass not in classes else []
    return tuple(
        Gathered(reason=reason, fault=fault, where=tuple((row, tuple(classes)) for row, classes in rows.items()))
        for (reason, fault), rows in found.items()
    )


def left_out(
    discovered: Discovered | None = None, *, rows: Iterable[Row] = ROWS, walled: bool = False
) -> tuple[LeftOut, ...]:
    """Return the cells of the table that are not run, each with its reason; reports always print them.

    ``rows``: those whose workloads were ``discovered``. ``walled``: whether tools run in sandboxes.
    """
    found = [
        LeftOut(row=row.id, position="every", klass=str(klass), fault="every", reason=class_why_not(row, klass))
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
    if not walled:
        why = "The drills' tools ran in the worker itself; drill run --sandbox has them in sandboxes, and plays this."
        found.append(everywhere_left(Fault.SANDBOX, why))
    if discovered is not None:
        found += _unpassed(discovered, rows)
    return tuple(found)


def class_why_not(row: Row, klass: Klass) -> str:
    """Say why a row has no cells for a class of tools."""
    if klass == Klass.NONE:
        return "A call without an effect leaves nothing outside that could be repeated or lost."
    if row.id in {"E08", "E10"}:
        return "The tool has no look-up, so that nothing is ever read back."
    if row.id == "E09":
        return "A tool of this class is not looked up after an unknown outcome."
    return "Only calls with several items have this place, and the built-in one is keyed by item."


def _unpassed(discovered: Discovered, rows: Iterable[Row]) -> Iterator[LeftOut]:
    for row in rows:
        for klass in row.classes:
            for position, place in places(row):
                if place and not workload_of(row, klass, place, discovered):
                    reason = "No workload of this class passes the place."
                    yield LeftOut(row=row.id, position=position, klass=str(klass), fault="every", reason=reason)
