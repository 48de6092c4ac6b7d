"""What differs between two sets of arguments, told by argument and by word. Pure: no Django."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.compared import MOST_WORK, Opcode, TooMuchWork, ends_alike, opcodes
from core.json_text import json_shown

MOST_TOKENS = 1500  # of a value; a longer one is compared by lines, one with more lines only as a whole
LONG_ALIKE = 240  # characters that are alike in one stretch; of a longer one the middle is left out
_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a value. ``kind``: same, gone, new, or left_out (its text says how much)."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One argument. ``kind``: same, changed, new (only now) or gone (only then)."""

    name: str
    kind: str
    pieces: Sequence[Piece]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Compare arguments by name; the order of keys inside a value makes no difference."""
    names = [*after, *(name for name in before if name not in after)]
    changed = sum(name in before and name in after and before[name] != after[name] for name in names)
    work = MOST_WORK // max(1, changed)  # each has its share, so that none takes it from the others
    return [_difference(name, before, after, work) for name in names]


def _difference(name: str, before: Mapping[str, Any], after: Mapping[str, Any], work: int) -> Difference:
    if name not in before:
        return Difference(name=name, kind="new", pieces=_whole(_text(after[name]), "new"))
    if name not in after:
        return Difference(name=name, kind="gone", pieces=_whole(_text(before[name]), "gone"))
    then, now = _text(before[name]), _text(after[name])
    if type(before[name]) is type(after[name]) and then == now:
        return Difference(name=name, kind="same", pieces=_whole(now, "same"))
    return Difference(name=name, kind="changed", pieces=list(_compared(then, now, work)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json_shown(value, indent=2, sort_keys=True)


def _whole(text: str, kind: str) -> list[Piece]:
    return list(_folded(text, kind))


def _compared(then: str, now: str, work: int) -> Iterator[Piece]:
    old, new, codes = _alike(then, now, work)
    for tag, a, b, c, d in codes:
        if tag == "equal":
            yield from _folded("".join(new[c:d]), "same")
            continue
        if b > a:
            yield from _folded("".join(old[a:b]), "gone")
        if d > c:
            yield from _folded("".join(new[c:d]), "new")


def _alike(then: str, now: str, work: int) -> tuple[list[str], list[str], list[Opcode]]:
    """Compare by words, else by lines; where that is too much, only what both begin and end with is alike."""
    cuts = [(old, new) for cut in (_words, _lines) if (old := cut(then)) is not None and (new := cut(now)) is not None]
    if then == now or not cuts:  # of two kinds that look alike, or too long
        return [then], [now], [("replace", 0, 1, 0, 1)]
    for at, (old, new) in enumerate(cuts):
        with suppress(TooMuchWork):
            codes = opcodes(old, new, most=work // len(cuts))
            if at == 0 or any(tag == "equal" for tag, *_ in codes):
                return old, new, codes
    old, new = cuts[0]
    return old, new, ends_alike(old, new)


def _words(text: str) -> list[str] | None:
    """Return a text in words, None where they are too many to compare."""
    tokens = _TOKENS.findall(text) if len(text) <= MOST_TOKENS * 8 else None
    return tokens if tokens is not None and len(tokens) <= MOST_TOKENS else None


def _lines(text: str) -> list[str] | None:
    lines = text.splitlines(keepends=True)
    return lines if len(lines) <= MOST_TOKENS else None


def _folded(text: str, kind: str) -> Iterator[Piece]:
    most = LONG_ALIKE if kind == "same" else LONG_ALIKE * 10
    if len(text) <= most:
        yield Piece(text, kind)
        return
    half = most // 2
    yield Piece(text[:half], kind)
    yield Piece(f"{len(text) - most:,} more characters", "left_out")
    yield Piece(text[-half:], kind)
