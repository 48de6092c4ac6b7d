"""The matrix: boundary by class, each cell with its worst verdict, n of N, and its times beside their bounds. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.rows import EFFECTS, ROWS
from chaos_app.drills.undrilled import squares_why

# A case as the matrix sees it, a ``results.Result`` or a stored row: row, klass, verdict, as_allowed, takeover,
# takeover_bound, settled, settled_bound.
Outcome = Any

COLUMNS = EFFECTS
_WORST = {verdict: at for at, verdict in enumerate(Verdict)}


@dataclass(frozen=True, kw_only=True)
class Square:
    """One square. ``results`` empty: never drilled, or on other code: grey, never green.

    ``why``: why the table has no case for it at all; "" where it has.
    """

    klass: Klass
    results: tuple[Outcome, ...]
    why: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The worst: a case that is not as allowed comes before every one that is."""
        order = sorted(self.results, key=lambda r: (r.as_allowed, _WORST[Verdict(r.verdict)]))
        return Verdict(order[0].verdict) if order else None

    @property
    def ends(self) -> list[tuple[Verdict, int]]:
        """How its cases ended, with how many of each, the worst first."""
        found = Counter(Verdict(result.verdict) for result in self.results)
        return sorted(found.items(), key=lambda one: _WORST[one[0]])

    @property
    def as_allowed(self) -> int:
        """How many ended as the table allows."""
        return sum(result.as_allowed for result in self.results)

    @property
    def is_wrong(self) -> bool:
        """Whether any did not."""
        return self.as_allowed < len(self.results)

    @property
    def takeover(self) -> float | None:
        """The longest takeover, in seconds."""
        return _longest([r.takeover for r in self.results])

    @property
    def takeover_bound(self) -> float | None:
        """Its bound, in seconds."""
        return _longest([r.takeover_bound for r in self.results])

    @property
    def settled(self) -> float | None:
        """The longest time until the effect was settled, in seconds."""
        return _longest([r.settled for r in self.results])

    @property
    def settled_bound(self) -> float | None:
        """Its bound, in seconds."""
        return _longest([r.settled_bound for r in self.results])


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of the matrix."""

    row: str
    title: str
    resume: str
    squares: tuple[Square, ...]

    @property
    def is_drilled(self) -> bool:
        """Whether any case of it was run."""
        return any(square.results for square in self.squares)


def _longest(seconds: Sequence[float | None]) -> float | None:
    known = [one for one in seconds if one is not None]
    return max(known) if known else None


def matrix(results: Sequence[Outcome]) -> tuple[Line, ...]:
    """Return all rows of the table, drilled or not. Cases of other code are not to be handed in: they stay grey."""
    lines = []
    for row in ROWS:
        mine = [result for result in results if result.row == row.id]
        none = squares_why(row)
        squares = [
            Square(klass=k, results=tuple(r for r in mine if r.klass == k), why=none.get(k, "")) for k in COLUMNS
        ]
        lines.append(Line(row=row.id, title=row.title, resume=row.resume, squares=tuple(squares)))
    return tuple(lines)
