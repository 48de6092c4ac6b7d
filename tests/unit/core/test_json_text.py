"""JSON from outside is read within bounds."""

import pytest

from core.json_text import MAX_DEPTH, NotJson, UnfitJson, deeper_than, json_read


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
