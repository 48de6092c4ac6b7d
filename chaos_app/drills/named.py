"""From the name of a case to the case: any place, fault and workload that the table knows can be asked for. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from chaos_app.drills.catalogue import BY_NAME
from chaos_app.drills.cells import KILLS, OUTSIDE, Cell, Discovered, cell_of, slug, workload_of
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.row import SITUATION, Row
from chaos_app.drills.rows import BY_ID
from chaos_app.drills.where import why_not

FAULTS = {slug(fault): fault for fault in Fault}
# Faults that can be done while the outside holds a request: nobody waits at a place in the code then.
WHILE_HELD = KILLS | {Fault.ZOMBIE}


def cell_named(name: str, discovered: Discovered | None = None, *, own: Collection[str] = ()) -> Cell | None:
    """Return the case of this name; None where the table has no such place, or the fault cannot be done there.

    With what was ``discovered``, a name without a workload takes the first that passes the place. ``own``: names of
    workloads that are no built-in ones.
    """
    words = name.split(".")
    row = BY_ID.get(words[0])
    if row is None or len(words) < 4:
        return None
    position, rest = words[1], words[2:]
    at = rest.pop(0) if position == SITUATION and rest and rest[0] not in set(Klass) else ""
    place = _place(row, position, at)
    if len(rest) < 2 or rest[0] not in set(Klass) or rest[1] not in FAULTS or not _exists(row, position, place):
        return None
    klass, fault = Klass(rest[0]), FAULTS[rest[1]]
    if not _can_be(place, fault):
        return None
    return _made(row, position, place, klass, fault, list(rest[2:]), discovered, own)


def _place(row: Row, position: str, at: str) -> tuple[str, str] | None:
    if position != SITUATION:
        return row.id, position
    boundary, _, where = at.partition("-")
    return (boundary, where) if where else None


def _exists(row: Row, position: str, place: tuple[str, str] | None) -> bool:
    if position != SITUATION:
        return position in row.positions
    return place is None or (place[0] in BY_ID and place[1] in BY_ID[place[0]].positions)


def _can_be(place: tuple[str, str] | None, fault: Fault) -> bool:
    if place is None:
        return True
    return not why_not(place[0], fault) and (place[0] not in OUTSIDE or fault in WHILE_HELD)


def _made(
    row: Row,
    position: str,
    place: tuple[str, str] | None,
    klass: Klass,
    fault: Fault,
    words: list[str],
    discovered: Discovered | None,
    own: Collection[str],
) -> Cell | None:
    hits = [int(word.removeprefix("hit")) for word in words if word.startswith("hit") and word[3:].isdigit()]
    seconds = list(_seconds(words))
    workloads = [word for word in words if word in BY_NAME or word in own]
    calls = [word for word in words if word not in workloads and not word.startswith(("hit", "then-"))]
    workload = workloads[0] if workloads else workload_of(row, klass, place, discovered) or row.workloads[0]
    second = seconds[0] if seconds else None
    usual = cell_of(row, klass, fault, place, workload, suite="full", position=position, second=second)
    return replace(usual, call=calls[0] if calls else usual.call, hit=hits[0] if hits else usual.hit)


def _seconds(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        boundary, _, where = word.removeprefix("then-").partition("-")
        if word.startswith("then-") and where:
            yield boundary, where
