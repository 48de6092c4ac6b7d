"""Strategies: ordinary JSON values, and anything at all that a tool may return."""

import enum
from dataclasses import dataclass

from hypothesis import strategies as st

from tasks_app.record.normaliser import RESERVED
from tasks_app.record.rawjson import DuplicateKeys, RawNumber


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    __slots__ = ()


@dataclass
class Point:
    x: object
    y: object


class Hostile:
    """Raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = object.__hash__


any_text = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["W\0s\0l", "ok \ud83d", "\ud83d\ude00", "\\u0000", "[masked:known:0123abcd]", "$blob", "a", "a (2)", ""]
)
odd_leaves = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.binary(max_size=20),
    st.just(b"\xff\xfe\x00"),
    st.datetimes(),
    st.dates(),
    st.decimals(),
    st.uuids(),
    st.sampled_from([Colour.RED, Level.HIGH, Word("w\0"), RawNumber("1e400"), -0.0, 1e300]),
    st.builds(Hostile),
    st.builds(pow, st.just(10), st.just(5000)),
)
plain_leaves = st.none() | st.booleans() | any_text | st.integers(-1000, 1000)
hashable = plain_leaves | st.floats() | st.binary(max_size=5) | st.just(Colour.RED) | st.tuples(st.integers())


def _around(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(any_text, inner, max_size=4),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
        st.builds(Point, inner, inner),
        st.lists(st.tuples(any_text, inner), max_size=4).map(DuplicateKeys),
    )


anything = st.recursive(plain_leaves | odd_leaves, _around, max_leaves=15)

json_text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
json_names = json_text.filter(lambda name: name not in RESERVED)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-(2.0**53) + 1, 2.0**53 - 1).map(lambda number: number or 0.0)
    | json_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_names, inner, max_size=4),
    max_leaves=15,
)
