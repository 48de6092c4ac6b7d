"""One row of the boundary table: where it lies, what a correct resume does, which ends it allows. Pure."""

from dataclasses import dataclass

from chaos_app.drills.names import Fault, Klass, Verdict
from core.boundaries import Position

ONCE, BLOCKED, NONE = Verdict.ONCE, Verdict.BLOCKED, Verdict.NONE
COMMIT = (Position.BEFORE, Position.COMMIT_KEPT, Position.COMMIT_DROPPED, Position.AFTER)
SITUATION = "situation"
EFFECTS = (Klass.KEYED, Klass.READABLE, Klass.PRECONDITION, Klass.OPAQUE)
Ends = frozenset[Verdict]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row. ``positions``: of ``core.boundaries.Position``; a situation has none and is made at ``places``.

    ``allowed``: for K and R; ``opaque``: for O (the same where it is not given). ``workloads``: in this order the
    first that passes the place. ``faults``: its own, beside SIGKILL. ``told``: what the outside is told beforehand.
    ``beside``: of a row that is not of the core, why the core can do without it.
    """

    id: str
    title: str
    resume: str
    core: bool = False
    beside: str = ""
    positions: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    allowed: Ends = frozenset({ONCE})
    opaque: Ends | None = None
    workloads: tuple[str, ...] = ("act",)
    classes: tuple[Klass, ...] = EFFECTS
    faults: tuple[Fault, ...] = (Fault.KILL,)
    told: Fault | None = None
    of_call: bool = False  # it is crossed for a call: the drilled one is meant

    def ends(self, klass: Klass) -> Ends:
        """Return the ends that the row allows for a class."""
        return self.opaque if klass == Klass.OPAQUE and self.opaque is not None else self.allowed


HELD: Ends = frozenset({BLOCKED})
EITHER: Ends = frozenset({ONCE, BLOCKED})
