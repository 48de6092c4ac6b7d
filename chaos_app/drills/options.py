"""What a person asks for on the command line or on the page, and which cells that is. Pure."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chaos_app.drills.catalogue import BY_NAME
from chaos_app.drills.cells import Cell, Discovered, cells, positions_of, slug
from chaos_app.drills.cells_walled import of_sandboxes
from chaos_app.drills.copies import COPIED
from chaos_app.drills.named import cell_named
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.rows import BY_ID, ROWS

PLAIN = ("act", "asked", "chain")  # what the soak runs
KILLS = 100  # of a soak, where nobody says how many
MOST_SIDE_BY_SIDE = 32


@dataclass(frozen=True, kw_only=True)
class Options:
    """A launch. Empty selections select everything. ``seed`` 0: one is drawn and printed."""

    suite: str = "core"
    cells: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    boundaries: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    hit: int | None = None
    kills: int | None = None  # of a soak
    seed: int = 0
    repeat: int = 1
    side_by_side: int = 0
    minutes: float = 60.0
    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None
    control: bool = True
    target: str = ""  # PACKAGE.MODULE:NAME of a user's own
    sandbox: bool = False  # the built-in tools run in sandboxes

    def at_once(self, cores: int) -> int:
        """Return how many cases run side by side on so many cores; few where a sandbox has to be started for each."""
        return self.side_by_side or min((2 if self.sandbox else 4) * cores, MOST_SIDE_BY_SIDE)

    @property
    def deaths(self) -> int:
        """How many workers a soak kills."""
        return KILLS if self.kills is None else self.kills

    @property
    def misfit(self) -> str:
        """Say in one sentence what was asked for and does not apply to the suite; "" where all does."""
        if self.suite != "soak":
            return "" if self.kills is None else "--kills is for --suite soak; core and full have the table's cases."
        narrowed: dict[str, object] = {
            "cell": self.cells,
            "boundary": self.boundaries,
            "position": self.positions,
            "class": self.classes,
        }
        narrowed |= {"fault": self.faults, "workload": self.workloads, "hit": self.hit, "repeat": self.repeat > 1}
        narrowed |= {"target": self.target}
        given = [f"--{name}" for name, value in narrowed.items() if value]
        why = "A soak draws its places by chance, from what the built-in agents pass"
        return f"{why}: {' and '.join(given)} cannot be asked of it." if given else ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the suite was left out by the person."""
        parts = (self.cells, self.workloads, self.boundaries, self.positions, self.classes, self.faults)
        return not any(parts) and self.hit is None


def chosen(options: Options, discovered: Discovered) -> list[Cell]:
    """Return the cells of a launch, in the order in which they are begun. Raises ValueError where nothing is left."""
    if options.suite == "soak":
        return list(soak(options.deaths, options.seed, discovered))
    known = list(cells(options.suite, discovered))
    known += of_sandboxes(options.suite) if options.sandbox else []
    if options.cells or options.hit is not None:
        known += [one for one in cells("full", discovered) if one.id not in {cell.id for cell in known}]
    return selected(*with_named(known, options, discovered))


def with_named(
    known: Sequence[Cell], options: Options, discovered: Discovered, *, own: Sequence[str] = ()
) -> tuple[list[Cell], Options]:
    """Add the cases that are asked for by name and that no suite has; each is wanted under the name that it gets."""
    ids = {cell.id for cell in known}
    made = [cell_named(name, discovered, own=own) for name in options.cells if name not in ids]
    more = [cell for cell in made if cell is not None and cell.id not in ids]
    return [*known, *more], replace(options, cells=(*options.cells, *(cell.id for cell in more)))


def selected(known: Iterable[Cell], options: Options) -> list[Cell]:
    """Return what is wanted of the known cells. Raises ValueError where nothing is."""
    found = [cell for cell in known if _is_wanted(cell, options)]
    if not found:
        raise ValueError("No case fits what was asked for; drill list --suite full shows the ids.")
    return _slow_first(found) * options.repeat


def needed(options: Options) -> set[tuple[str, Klass]] | None:
    """Return which workloads of which class must be discovered: of core, a soak, the named cells; None: all."""
    if options.suite == "soak":
        return {(one, klass) for one in PLAIN for klass in BY_NAME[one].classes}
    if is_core_alone(options):
        of_rows = {(name, klass) for row in ROWS if row.core for name in row.workloads for klass in row.classes}
        return {*of_rows, (COPIED, Klass.KEYED)}
    if not options.cells or any((options.workloads, options.boundaries, options.positions, options.faults)):
        return None
    return {pair for cell in options.cells for pair in _pairs_of(cell)}


def are_drawn(options: Options) -> bool:
    """Whether cases are drawn from all passages that are found: they must be steady, one by chance may not return."""
    of_target = bool(options.target) and not options.cells
    return options.suite == "soak" or of_target or needed(options) is None


def is_core_alone(options: Options) -> bool:
    """Whether nothing but cases of the core's rows is asked for."""
    return options.suite == "core" and not options.cells and options.hit is None


def _pairs_of(cell: str) -> set[tuple[str, Klass]]:
    """Return what may play the cell of this id: the row's workloads, and those that the id names."""
    words = cell.split(".")
    names = {*BY_ID[words[0]].workloads, *(word for word in words if word in BY_NAME)}
    return {(name, klass) for name in names for klass in Klass if str(klass) in words}


def unknown_cells(ids: Iterable[str]) -> list[str]:
    """Return what cannot be the id of any cell: it begins with no row of the table."""
    return [one for one in ids if one.partition(".")[0] not in BY_ID]


def _is_wanted(cell: Cell, options: Options) -> bool:
    asked = (
        (options.cells, cell.id),
        (options.workloads, cell.workload),
        (options.boundaries, cell.row),
        (options.positions, cell.position),
        (options.classes, str(cell.klass)),
        (options.faults, slug(cell.fault)),
    )
    fits = all(not wanted or value in wanted for wanted, value in asked[1:]) and options.hit in {None, cell.hit}
    is_named = cell.id in options.cells
    return is_named or (fits and (not options.cells or any(wanted for wanted, _ in asked[1:])))


def _slow_first(found: Sequence[Cell]) -> list[Cell]:
    """What has to wait for a lease, or for a late arrival, begins first: at the end nobody waits for it alone."""
    waits = {Fault.FORSAKEN: 0, Fault.ZOMBIE: 0, Fault.HANG: 0, Fault.KILL_BOTH: 0, Fault.EXPIRED: 1}
    slow = {Klass.READABLE: 2, Klass.PRECONDITION: 2}
    return sorted(found, key=lambda cell: waits.get(cell.fault, slow.get(cell.klass, 3)))


def soak(kills: int, seed: int, discovered: Discovered) -> Iterable[Cell]:
    """Yield so many deaths at places drawn by the seed, over all classes."""
    draw = random.Random(seed)  # noqa: S311 - to be drawn again from the same seed
    places = sorted(
        ((name, klass, seen) for (name, klass), passed in discovered.items() if name in PLAIN for seen in passed),
        key=lambda one: (one[0], one[1], one[2].boundary, one[2].position, one[2].call or "", one[2].nth),
    )
    for number in range(kills):
        name, klass, seen = draw.choice(places)
        position = draw.choice(positions_of(seen.boundary, seen.position))
        yield Cell(
            row=seen.boundary,
            position=position,
            klass=klass,
            fault=Fault.KILL,
            workload=name,
            place=(seen.boundary, position),
            call=seen.call,
            hit=seen.nth,
            suite=f"soak-{number + 1}",
        )
