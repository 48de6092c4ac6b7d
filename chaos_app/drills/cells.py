"""The cells of the matrix: which cases a suite runs, and how each may end (``left_out``: which not, and why). Pure.

A cell is a row, a position (or the place at which a situation is made), a class, a fault, a workload and the nth
passage. Places in the code are known from the table; which of them a workload passes is discovered by running it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chaos_app.drills.copies import COPIED, FORKS, is_of_copy
from chaos_app.drills.names import Fault, Klass, Verdict
from chaos_app.drills.rows import BY_ID, COMMIT, EFFECTS, EITHER, ROWS, SITUATION, Ends, Row
from chaos_app.drills.seconds import SECOND
from chaos_app.drills.where import why_not
from core.boundaries import Position

DRILLED = "act"  # the call of every workload that carries the class of the cell
# A second call of no look-up runs beside the drilled one: its outcome may be the one that is unknown.
MIXED = frozenset({"pair"})
# Workloads in which nothing is to happen in the end: a person says no, nobody decides, the claim is false.
WITHOUT_EFFECT = frozenset({"denied", "expired", "claims"})
OUTSIDE = frozenset({"E03", "E04", "E07"})  # passed outside of the code: the witness holds the request
KILLS = frozenset({Fault.KILL, Fault.KILL_WORKER, Fault.KILL_BOTH})
# After an attempt an opaque call may be held for a person whatever disturbs it.
AFTER_ATTEMPT = frozenset({"L04", "L05", "L06", "A06", "E01", "E02", "E03", "E04", "E05", "E06", "R01", "C03"})
# Other fault kinds, each once a place (the suite ``full``), where a process of the drill waits at one.
EVERYWHERE = (
    Fault.KILL_WORKER,
    Fault.KILL_BOTH,
    Fault.TERM,
    Fault.TERM_TWICE,
    Fault.QUIT,
    Fault.ZOMBIE,
    Fault.HANG,
    Fault.EXCEPTION,
    Fault.CONNECTION_CUT,
    Fault.DATABASE_RESTART,
    Fault.BROKER_STOPPED,
    Fault.BROKER_EMPTIED,
    Fault.BROKER_RESTART,
    Fault.MESSAGE_TWICE,
    Fault.MESSAGE_LOST,
    Fault.CLOCK,
)
ANSWERS = (
    Fault.ANSWER_LOST,
    Fault.ANSWER_LATE,
    Fault.ANSWER_GARBAGE,
    Fault.ANSWER_SLOW,
    Fault.ANSWER_ERROR,
    Fault.EFFECT_LATE,
    Fault.CREDENTIAL,
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One case of a suite. ``place``: boundary and position at which the process is held (None: the fault needs none).

    ``call``: whose passage is meant; None: any. ``hit``: the nth passage. ``told``: what the outside is told
    beforehand. ``second``: where the worker that takes over dies as well.
    """

    row: str
    position: str
    klass: Klass
    fault: Fault
    workload: str
    place: tuple[str, str] | None
    call: str | None = None
    hit: int = 1
    told: Fault | None = None
    second: tuple[str, str] | None = None
    suite: str = "core"

    @property
    def is_of_copy(self) -> bool:
        """Whether the copy of a task dies."""
        return is_of_copy(self.workload, self.hit)

    @property
    def id(self) -> str:
        """The name by which the case is run again: row, position, class, fault, then what is not the first or usual."""
        words = [self.row, self.position, str(self.klass), slug(self.fault)]
        if self.position == SITUATION and self.place:
            words.insert(2, "-".join(self.place))
        words += [f"then-{'-'.join(self.second)}"] if self.second else []
        words += [self.workload] if self.workload != BY_ID[self.row].workloads[0] else []
        words += [self.call] if self.call not in {None, DRILLED} else []
        return ".".join([*words, *([f"hit{self.hit}"] if self.hit != 1 else [])])

    @property
    def allowed(self) -> Ends:
        """How it may end."""
        form = {"row": self.row, "position": self.position, "klass": self.klass, "fault": self.fault}
        beside = self.call not in {None, DRILLED}
        return allowed(**form, workload=self.workload, beside=beside)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One passage of a workload without a fault."""

    boundary: str
    position: str
    call: str | None = None
    nth: int = 1  # among those with the same boundary, position and call


Discovered = Mapping[tuple[str, Klass], Sequence[Seen]]


# Where the answer stands in the record already: even of what nobody can look up, there is no doubt.
RECORDED = {("E05", Position.COMMIT_KEPT), ("E05", Position.AFTER)}


def slug(fault: Fault) -> str:
    """Return a fault's name as it stands in ids and on the command line."""
    return fault.name.lower().replace("_", "-")


def allowed(*, row: str, klass: Klass, fault: Fault, workload: str, position: str = "", beside: bool = False) -> Ends:
    """Return the ends that the table allows for a case. ``beside``: the place is another call's."""
    ends = set(BY_ID[row].ends(klass))
    if beside and klass == Klass.OPAQUE:
        ends |= EITHER  # that call has a class of its own
    if klass == Klass.OPAQUE and row in AFTER_ATTEMPT and fault not in KILLS and row != "L06":
        ends |= EITHER  # a milder fault may pass without an unknown outcome, or its answer come late and end the doubt
    if (row, position) in RECORDED:
        ends = {Verdict.ONCE if end == Verdict.BLOCKED else end for end in ends}
    if fault in {Fault.EDITED, Fault.STOPPED, Fault.CREDENTIAL}:
        ends |= {Verdict.ONCE, Verdict.NONE, Verdict.BLOCKED}  # the changed call is asked for anew, and may be approved
    if fault in ANSWERS and klass == Klass.OPAQUE:
        ends |= EITHER
    if workload in MIXED:
        ends |= {Verdict.BLOCKED}
    if workload in WITHOUT_EFFECT:
        ends = {Verdict.NONE if end == Verdict.ONCE else end for end in ends}
    return frozenset(ends)


def cells(suite: str, discovered: Discovered | None = None) -> tuple[Cell, ...]:
    """Return the cases of ``core`` or ``full``; without what was discovered, those that the table alone knows.

    With it, a row of ``core`` takes the first of its workloads that passes the place. Raises ValueError.
    """
    chosen = list(_core(discovered))
    if suite == "full":
        chosen += _full(discovered)
    elif suite != "core":
        raise ValueError(f"There is no suite {suite!r} of cells; there are core and full.")
    return tuple({cell.id: cell for cell in reversed(chosen)}.values())[::-1]


def _core(discovered: Discovered | None) -> Iterator[Cell]:
    for row in ROWS:
        if row.core:
            for klass in row.classes:
                yield from _of_row(row, klass, discovered, suite="core")
    for boundary, position in FORKS:
        place, row = (boundary, position), BY_ID[boundary]
        usual = cell_of(row, Klass.KEYED, Fault.KILL, place, COPIED, suite="core", position=position)
        yield replace(usual, hit=2)


def _of_row(row: Row, klass: Klass, discovered: Discovered | None, *, suite: str) -> Iterator[Cell]:
    if row.id == "R01":
        for first, second in SECOND.get(klass, ()):
            yield cell_of(row, klass, Fault.KILL, first, "act", suite=suite, second=second)
        return
    for fault in row.faults:
        for position, place in places(row):
            workload = workload_of(row, klass, place, discovered)
            if workload:
                yield cell_of(row, klass, fault, place, workload, suite=suite, position=position)


def places(row: Row) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Yield position and place of each cell of a row; a place of None where the fault needs nobody to be held."""
    for position in row.positions:
        yield str(position), (row.id, str(position))
    for boundary, position in row.places:
        yield SITUATION, (boundary, str(position))
    if not row.positions and not row.places:
        yield SITUATION, None


def cell_of(
    row: Row,
    klass: Klass,
    fault: Fault,
    place: tuple[str, str] | None,
    workload: str,
    *,
    suite: str,
    position: str = SITUATION,
    second: tuple[str, str] | None = None,
) -> Cell:
    """Return the usual case of a place: the first passage, of the drilled call where a place has one."""
    of_call = place is not None and BY_ID[place[0]].of_call
    return Cell(
        row=row.id,
        position=position,
        klass=klass,
        fault=fault,
        workload=workload,
        place=place,
        call=DRILLED if of_call else None,
        told=row.told,
        second=second,
        suite=suite,
    )


def workload_of(row: Row, klass: Klass, place: tuple[str, str] | None, discovered: Discovered | None) -> str:
    """Return the first workload of a row that passes the place; "" where none does."""
    if discovered is None or place is None or row.told or place[0] in OUTSIDE:
        return row.workloads[0]
    call = DRILLED if BY_ID[place[0]].of_call else None
    for workload in row.workloads:
        if any(passes(seen, place, call) for seen in discovered.get((workload, klass), ())):
            return workload
    return ""


def passes(seen: Seen, place: tuple[str, str], call: str | None) -> bool:
    """Whether a passage is over a place; those within a commit are passed where the commit is."""
    boundary, position = place
    made = {Position.COMMIT_KEPT: Position.BEFORE, Position.COMMIT_DROPPED: Position.BEFORE}
    wanted = str(made.get(Position(position), Position(position)))
    return (seen.boundary, seen.position) == (boundary, wanted) and (call is None or seen.call == call)


def _full(discovered: Discovered | None) -> Iterator[Cell]:
    for row in ROWS:
        if not row.core:
            for klass in row.classes:
                yield from _of_row(row, klass, discovered, suite="full")
    for (workload, klass), passages in (discovered or {}).items():
        found = every_passage(workload, klass, passages)
        # Of a workload that is copied the copy's passages: those before are passed by other workloads alike.
        yield from (cell for cell in found if workload != COPIED or cell.is_of_copy)
    yield from _other_faults(discovered)


def every_passage(workload: str, klass: Klass, passages: Sequence[Seen]) -> Iterator[Cell]:
    """First and last hit of every passage, killed there."""
    last: dict[tuple[str, str, str | None], int] = {}
    for seen in passages:
        at = (seen.boundary, seen.position, seen.call)
        last[at] = max(last.get(at, 0), seen.nth)
    for (boundary, position, call), most in last.items():
        for hit in sorted({1, most}):
            for where in positions_of(boundary, position):
                place = (boundary, where)
                yield Cell(
                    row=boundary,
                    position=where,
                    klass=klass,
                    fault=Fault.KILL,
                    workload=workload,
                    place=place,
                    call=call,
                    hit=hit,
                    suite="full",
                )


def positions_of(boundary: str, position: str) -> tuple[str, ...]:
    """Return a passage's position, and where it is before a commit the two that are made within it."""
    made = position == Position.BEFORE and Position.COMMIT_KEPT in BY_ID[boundary].positions
    return (position, *(str(one) for one in COMMIT[1:3])) if made else (position,)


def _other_faults(discovered: Discovered | None) -> Iterator[Cell]:
    """Each other fault kind once a place that the plainest workload passes, and each answer of a tool once a class."""
    for row in ROWS:
        if not row.positions or row.told or row.id in OUTSIDE:
            continue
        klass = Klass.KEYED if Klass.KEYED in row.classes else row.classes[0]
        place = (row.id, str(row.positions[0]))
        workload = workload_of(row, klass, place, discovered)
        if workload:
            for fault in EVERYWHERE:
                if not why_not(row.id, fault):
                    yield cell_of(row, klass, fault, place, workload, suite="full", position=place[1])
    for klass in EFFECTS:
        for fault in ANSWERS:
            yield cell_of(BY_ID["E03"], klass, fault, None, "act", suite="full", position=str(Position.IN_FLIGHT))
