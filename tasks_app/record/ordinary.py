"""The short way for ordinary values: recognise, at the speed of the C encoder and decoder, that nothing must change."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from core.json_text import MAX_DEPTH
from tasks_app.record.masker import Masker
from tasks_app.record.normaliser import GREATEST_INTEGER, RESERVED, SURROGATE, in_order
from tasks_app.record.secret_shapes import is_secret_name

LARGEST = 64 * 1024  # characters of JSON; for more, the long way costs little in comparison


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A fresh copy of the value as the record will give it back."""

    value: object


class _NotOrdinary(ValueError):
    pass


def ordinary(value: object, masker: Masker, limit_bytes: int, exempt: frozenset[str] = frozenset()) -> Unchanged | None:
    """Return the value if masker and normaliser would leave it alone; None means that the long way decides.

    Fields named in ``exempt`` may have secret names; what looks like a secret in them goes the long way too.
    """
    try:
        text = _encode(value)
        if len(text) > LARGEST or len(text) * 4 > limit_bytes or _looks_odd(text) or masker.may_change(text):
            return None
        copy = _decoder(exempt)(text)
        return Unchanged(copy) if copy == value else None
    except Exception:  # a foreign object may raise anything from its own methods
        return None


def _looks_odd(text: str) -> bool:
    if not text.isascii() and SURROGATE.search(text):
        return True
    return "\\u0000" in text or text.count("[") + text.count("{") > MAX_DEPTH


@lru_cache(maxsize=64)
def _decoder(exempt: frozenset[str]) -> Callable[[str], object]:
    """Return a decoder that refuses what is not ordinary; the order of each set of names is worked out once."""

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _NotOrdinary
        order = _layout(tuple(found), exempt) if len(found) <= 32 else _order(found, exempt)
        return {name: found[name] for name in order}

    return json.JSONDecoder(object_pairs_hook=members, parse_int=_integer, parse_float=_number).decode


@lru_cache(maxsize=1024)
def _layout(names: tuple[str, ...], exempt: frozenset[str]) -> tuple[str, ...]:
    return _order(names, exempt)


def _order(names: Iterable[str], exempt: frozenset[str]) -> tuple[str, ...]:
    ordered = tuple(in_order((name, None) for name in names))
    if any(is_secret_name(name) and name not in exempt for name in ordered) or not RESERVED.isdisjoint(ordered):
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
