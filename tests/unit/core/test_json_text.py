"""JSON from outside is read within bounds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_text import MAX_DEPTH, NotJson, UnfitJson, deeper_than, json_read, json_shown

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_what_can_be_kept_is_read() -> None:
    assert json_read('{"a": [1, "\\ud83d\\ude00", null]}') == {"a": [1, "😀", None]}
    assert json_read("[" * MAX_DEPTH + "]" * MAX_DEPTH)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"a": 1', NotJson, "line 1, column 8, at the end"),
        ("[" * 60_000, UnfitJson, "64 levels"),
        ("[" * 65 + "]" * 65, UnfitJson, "64 levels"),
        ("9" * 5000, UnfitJson, "digits"),
        ('{"a": "\\ud800"}', UnfitJson, "no character"),
        ('{"\\ud800": 1}', UnfitJson, "no character"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(text: str, kind: type[ValueError], said: str) -> None:
    with pytest.raises(kind, match=said):
        json_read(text)


def test_depth_is_measured_without_following_it_on_the_stack() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    assert deeper_than(value, 64)
    assert not deeper_than({"a": [1, {"b": 2}]}, 3)
    assert deeper_than({"a": [1, {"b": 2}]}, 2)


def nested(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize("value", [nested(60, [1] * 100_000), nested(18, [1] * 100_000), [nested(15, 1)] * 5000])
def test_no_value_grows_beyond_four_times_its_length_where_it_is_shown(value: Any) -> None:
    assert len(json_shown(value, indent=2)) <= 4 * len(json.dumps(value))


def test_an_ordinary_value_is_spread_over_lines() -> None:
    value = {
        "name": "queue",
        "limits": [{"cpu": 1, "memory": "2Gi"}, {"cpu": 2, "memory": "4Gi"}],
        "none": [],
        "deep": {},
    }
    assert json_shown(value, indent=2) == json.dumps(value, indent=2)


@given(JSON)
def test_whatever_is_shown_can_be_read_back(value: Any) -> None:
    shown = json_shown(value, indent=2)
    assert json.loads(shown) == value
    assert len(shown) <= 4 * len(json.dumps(value, ensure_ascii=False))
