"""The short way for ordinary values: recognise, at the speed of the C encoder and decoder, that nothing must change."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tasks_app.record.masker import Masker
from tasks_app.record.normaliser import GREATEST_INTEGER, RESERVED, SURROGATE, in_order
from tasks_app.record.plain import MAX_DEPTH
from tasks_app.record.secret_shapes import is_secret_name

LARGEST = 64 * 1024  # characters of JSON; for more, the long way costs little in comparison


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A fresh copy of the value as the record will give it back."""

    value: object


class _NotOrdinary(ValueError):
    pass


def ordinary(value: object, masker: Masker, limit_bytes: int) -> Unchanged | None:
    """Return the value if masker and normaliser would leave it alone; None means that the long way decides."""
    try:
        text = _encode(value)
        if len(text) > LARGEST or len(text) * 4 > limit_bytes or _looks_odd(text) or masker.may_change(text):
            return None
        copy = _decode(text)
        return Unchanged(copy) if copy == value else None
    except Exception:  # a foreign object may raise anything from its own methods
        return None


def _looks_odd(text: str) -> bool:
    if not text.isascii() and SURROGATE.search(text):
        return True
    return "\\u0000" in text or text.count("[") + text.count("{") > MAX_DEPTH


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotOrdinary
    order = _layout(tuple(members)) if len(members) <= 32 else _order(members)
    return {name: members[name] for name in order}


@lru_cache(maxsize=1024)
def _layout(names: tuple[str, ...]) -> tuple[str, ...]:
    return _order(names)


def _order(names: Iterable[str]) -> tuple[str, ...]:
    ordered = tuple(in_order((name, None) for name in names))
    if any(map(is_secret_name, ordered)) or not RESERVED.isdisjoint(ordered):
        raise _NotOrdinary
    return ordered


def _integer(text: str) -> int:
    if len(text) > 15:
        raise _NotOrdinary
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if abs(value) > GREATEST_INTEGER or text == "-0.0":
        raise _NotOrdinary
    return value


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer, parse_float=_number).decode
