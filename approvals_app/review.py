"""How much of a call a card shows, and the parts in which a larger one is read. Pure: no Django (rule 12)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.arguments import ArgumentRow, argument_rows

CARD_ROWS = 60  # arguments that a card shows whole
HEAD = 400  # of each argument, where the card cannot show all
PART = 40_000  # characters of one part of the review page


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch of one argument: the characters ``start`` (from 1) to ``end`` of ``total``."""

    name: str
    kind: str
    text: str
    start: int
    end: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole argument."""
        return self.end - self.start + 1 >= self.total

    @property
    def row(self) -> ArgumentRow:
        """The stretch as a row of arguments."""
        return ArgumentRow(self.name, self.kind, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The arguments of a call, in parts.

    ``fits_card``: the card shows everything. ``too_large``: nobody reads so much, so it cannot be approved.
    """

    characters: int
    rows: Sequence[ArgumentRow]
    fits_card: bool
    too_large: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any], *, size: int, card: int, most: int) -> "Review":
        """Return the review of ``size`` bytes, of which a card shows ``card`` and a person reads ``most``."""
        rows = argument_rows(arguments)
        return cls(
            rows=rows,
            characters=sum(len(row.name) + len(row.text) for row in rows),
            fits_card=size <= card and len(rows) <= CARD_ROWS,
            too_large=size > most,
        )

    def heads(self) -> list[Slice]:
        """Return the beginning of each argument, for a card that cannot show all."""
        return [_slice(row, 0, HEAD) for row in self.rows[:CARD_ROWS]]

    def parts(self) -> list[list[Slice]]:
        """Return all of it in parts that a page can show."""
        parts: list[list[Slice]] = [[]]
        room = PART
        for one in self._slices():
            size = len(one.text) + len(one.name)
            if parts[-1] and size > room:
                parts.append([])
                room = PART
            parts[-1].append(one)
            room -= size
        return parts

    def _slices(self) -> Iterator[Slice]:
        for row in self.rows:
            for start in range(0, max(1, len(row.text)), PART):
                yield _slice(row, start, PART)


def _slice(row: ArgumentRow, start: int, most: int) -> Slice:
    text = row.text[start : start + most]
    return Slice(name=row.name, kind=row.kind, text=text, start=start + 1, end=start + len(text), total=len(row.text))
