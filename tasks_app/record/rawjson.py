"""Reading JSON text without losing what an ordinary parser drops: duplicate keys and numbers out of range."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LONGEST_INTEGER = 4000  # digits; CPython refuses to convert more than 4300


class NotJson(ValueError):
    """The text is not JSON."""


@dataclass(frozen=True, slots=True)
class RawNumber:
    """A number that neither int nor float can hold, as it was written."""

    text: str


class DuplicateKeys(dict[str, Any]):
    """An object that names a key more than once; reads like a dict (the last one wins), ``items`` gives all."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)

    def items(self) -> Any:
        """Return every pair in the order of the text; the JSON encoder writes them all."""
        return self.pairs


def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict that has lost none of them."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else DuplicateKeys(pairs)


def _integer(text: str) -> int | RawNumber:
    return int(text) if len(text) <= LONGEST_INTEGER else RawNumber(text)


def _number(text: str) -> float | RawNumber:
    value = float(text)
    return RawNumber(text) if math.isinf(value) else value


_decode = json.JSONDecoder(object_pairs_hook=as_object, parse_int=_integer, parse_float=_number).decode


def parse_json(text: str | bytes) -> Any:
    """Parse JSON text; give the result to the normaliser, which makes visible what JSON readers would drop.

    Takes what Python's parser takes, NaN and Infinity included. Bytes may be UTF-8, UTF-16 or UTF-32.

    Raises:
        NotJson: the text is not JSON, not text, or nested deeper than the parser can follow.
    """
    try:
        return _decode(text if isinstance(text, str) else text.decode(json.detect_encoding(text)))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
