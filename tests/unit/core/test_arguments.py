"""Every argument of a call can be read."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.arguments import argument_rows, argument_rows_cut, in_order

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(st.dictionaries(st.text(), JSON))
def test_each_value_can_be_read_back_from_what_is_shown(arguments: dict[str, Any]) -> None:
    rows = argument_rows(arguments)
    assert [row.name for row in rows] == list(arguments)
    for row, value in zip(rows, arguments.values(), strict=True):
        assert (row.text if row.kind == "text" else json.loads(row.text)) == value


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("5", "text", "5"),
        (5, "number", "5"),
        (1.0, "number", "1.0"),
        (2**60 + 1, "number", "1152921504606846977"),
        (True, "yes or no", "true"),
        (None, "nothing", "null"),
        ([], "list", "[]"),
    ],
)
def test_values_that_look_alike_are_told_apart_by_their_kind(value: object, kind: str, text: str) -> None:
    (row,) = argument_rows({"value": value})
    assert (row.kind, row.text) == (kind, text)


def test_an_empty_text_is_not_simply_blank() -> None:
    assert argument_rows({"note": ""})[0].is_empty_text
    assert not argument_rows({"note": " "})[0].is_empty_text


@given(st.dictionaries(st.text(max_size=3), JSON), st.lists(st.text(max_size=3)))
def test_an_order_for_readers_changes_nothing_but_the_order(arguments: dict[str, Any], fields: list[str]) -> None:
    assert in_order(arguments, fields) == arguments


def test_arguments_stand_in_the_order_of_the_schema_and_unknown_ones_after_them() -> None:
    stored = {"to": 1, "odd": 2, "memo": 3, "amount": 4}
    assert list(in_order(stored, ["amount", "gone", "to", "memo"])) == ["amount", "to", "memo", "odd"]


def test_a_page_that_links_to_the_whole_shows_so_many_characters_and_says_what_is_left_out() -> None:
    rows, hidden = argument_rows_cut({"a": "x" * 50, "b": "y" * 100, "c": 1, "d": 2}, 100)
    assert [(row.name, len(row.text)) for row in rows] == [("a", 50), ("b", 48)]
    assert hidden == "52 more characters and 2 more values not shown here."
    assert argument_rows_cut({"a": 1}, 100) == (argument_rows({"a": 1}), "")
