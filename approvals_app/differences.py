"""What differs between two sets of arguments, told by argument and by word. Pure: no Django."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

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
    return [_difference(name, before, after) for name in names]


def _difference(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    if name not in before:
        return Difference(name=name, kind="new", pieces=_whole(_text(after[name]), "new"))
    if name not in after:
        return Difference(name=name, kind="gone", pieces=_whole(_text(before[name]), "gone"))
    then, now = _text(before[name]), _text(after[name])
    if type(before[name]) is type(after[name]) and then == now:
        return Difference(name=name, kind="same", pieces=_whole(now, "same"))
    return Difference(name=name, kind="changed", pieces=list(_compared(then, now)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def _whole(text: str, kind: str) -> list[Piece]:
    return list(_folded(text, kind))


def _compared(then: str, now: str) -> Iterator[Piece]:
    old, new = _split(then), _split(now)
    if old is None or new is None or then == now:
        yield from _folded(then, "gone")
        yield from _folded(now, "new")
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _folded("".join(new[c:d]), "same")
            continue
        if b > a:
            yield from _folded("".join(old[a:b]), "gone")
        if d > c:
            yield from _folded("".join(new[c:d]), "new")


def _split(text: str) -> list[str] | None:
    """Return a text in words, a long one in lines, and None for one that is too long to compare."""
    if len(text) <= MOST_TOKENS * 8:
        tokens = _TOKENS.findall(text)
        if len(tokens) <= MOST_TOKENS:
            return tokens
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
