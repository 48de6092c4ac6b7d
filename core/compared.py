"""Which parts of two sequences are alike, within a bound on the work: texts can be made that take minutes. Pure."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any

MOST_WORK = 2_000_000  # looks of the comparison at a pair: some tenths of a second

Opcode = tuple[str, int, int, int, int]  # as difflib's: equal, replace, delete or insert, and the two stretches


class TooMuchWork(Exception):
    """The comparison would look at more pairs than it may."""


def opcodes(old: Sequence[str], new: Sequence[str], *, most: int = MOST_WORK, autojunk: bool = False) -> list[Opcode]:
    """Return what makes ``new`` of ``old``. Raises TooMuchWork; ``most``: pairs that may be looked at.

    What both begin and end with costs nothing.
    """
    head, tail = _ends(old, new)
    inner = _Bounded(old[head : len(old) - tail], new[head : len(new) - tail], most=most, autojunk=autojunk)
    middle: list[Opcode] = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in inner.get_opcodes()]
    return _around(middle, head, tail, old, new)


def ends_alike(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return what makes ``new`` of ``old`` where only their common beginning and end are told apart from the rest."""
    head, tail = _ends(old, new)
    a, b, c, d = head, len(old) - tail, head, len(new) - tail
    tag = "replace" if b > a and d > c else "delete" if b > a else "insert"
    return _around([(tag, a, b, c, d)] if b > a or d > c else [], head, tail, old, new)


def in_groups(codes: list[Opcode], around: int) -> Iterable[list[Opcode]]:
    """Return what differs in groups, each with so many of the like around it, as difflib has them."""
    matcher = SequenceMatcher[str]()
    matcher.opcodes = codes  # type: ignore[attr-defined]  # where it keeps what it has worked out
    return matcher.get_grouped_opcodes(around)


def _ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    return head, tail


def _around(middle: list[Opcode], head: int, tail: int, old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    before: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    after: list[Opcode] = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*before, *middle, *after]


class _Bounded(SequenceMatcher[str]):
    """Counts what each search costs before it is made: every place of the one, with every place of its like."""

    def __init__(self, old: Sequence[str], new: Sequence[str], *, most: int, autojunk: bool) -> None:
        super().__init__(None, old, new, autojunk=autojunk)
        self.left = most
        places: dict[str, Any] = self.b2j  # type: ignore[attr-defined]
        self.costs = [0, *accumulate(1 + len(places.get(one, ())) for one in old)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        """As the library's. Raises TooMuchWork."""
        self.left -= self.costs[len(self.costs) - 1 if ahi is None else ahi] - self.costs[alo]
        if self.left < 0:
            raise TooMuchWork
        return super().find_longest_match(alo, ahi, blo, bhi)
