"""Whatever a tool returns becomes something that jsonb, a browser and a re-reader take (case-24)."""

import datetime
import json
from collections import OrderedDict
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.record.canonical import canonical_bytes, json_bytes
from tasks_app.record.normaliser import LEAST_LIMIT, Normalised, normalise
from tasks_app.record.rawjson import NotJson, RawNumber, parse_json
from tests.unit.record.values import Colour, Hostile, Level, Point, Word, any_text, anything, json_values

LIMIT = 1_000_000
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


def clean(value: object, **kwargs: object) -> Normalised:
    return normalise(value, **{"limit_bytes": LIMIT, **kwargs})


def spelled(value: object) -> str:
    """Types, order and all: what a resumed worker would tell apart."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@pytest.mark.parametrize(
    ("output", "stored"),
    [
        ("W\x00s\x00l", "W\u2400s\u2400l"),
        ({"mape": float("nan"), "max": float("inf")}, {"max": "Infinity", "mape": "NaN"}),
        ("ok \ud83d", "ok \ufffd"),
        (b"\xff\xfe\x00", "data:application/octet-stream;base64,//4A"),
        (9007199254740993, "9007199254740993"),
        (-(2**53), "-9007199254740992"),
        (1e300, "1e+300"),
        (float("-inf"), "-Infinity"),
        ({1: "a"}, {"1": "a"}),
        ({"a\0": 1, "a\u2400": 2}, {"a\u2400": 1, "a\u2400 (2)": 2}),
        ({"$blob": {"sha256": "0" * 64}}, {"$$blob": {"sha256": "0" * 64}}),
        (b"plain", "plain"),
        ({3, 1, 2}, [1, 2, 3]),
        ("\ud83d\ude00", "\U0001f600"),
        (RawNumber("1e400"), "1e400"),
    ],
)
def test_what_would_be_refused_or_lost_is_stored_otherwise_and_marked_as_altered(output, stored) -> None:
    result = clean(output)
    assert spelled(result.value) == spelled(stored)
    assert result.altered
    assert result.alterations
    assert result.original is not None


@pytest.mark.parametrize(
    "output",
    ["\\u0000", "", "plain", 0, -5, 2**53 - 1, 1.0, 1e-7, 0.1, True, None, [], {}, {"$$blob": 1}, "\U0001f600\u2028"],
)
def test_what_can_be_stored_stays_as_it_was(output) -> None:
    result = clean(output)
    assert spelled(result.value) == spelled(output)
    assert not result.altered
    assert result.original is None


@pytest.mark.parametrize(
    ("output", "stored"),
    [
        ((1, (2,)), [1, [2]]),
        (Point(1, {"a": None}), {"x": 1, "y": {"a": None}}),
        (datetime.datetime(2026, 11, 20, 9, 0, tzinfo=datetime.UTC), "2026-11-20T09:00:00+00:00"),
        (datetime.date(2026, 11, 20), "2026-11-20"),
        (Decimal("0.10"), "0.10"),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Word("w"), "w"),
        (OrderedDict(bb=1, a=2), {"a": 2, "bb": 1}),
        (-0.0, 0.0),
    ],
)
def test_another_spelling_of_the_same_value_is_no_alteration(output, stored) -> None:
    result = clean(output)
    assert spelled(result.value) == spelled(stored)
    assert type(result.value) is type(stored)
    assert not result.altered


def test_duplicate_keys_of_a_json_text_stay_visible() -> None:
    result = clean(parse_json('{"a":1,"a":2,"a (2)":3}'))
    assert result.value == {"a": 1, "a (3)": 2, "a (2)": 3}
    assert result.altered
    assert json.dumps(result.original) == '{"a": 1, "a": 2, "a (2)": 3}'


def test_numbers_out_of_range_of_a_json_text_keep_their_digits() -> None:
    digits = "7" * 5000
    result = clean(parse_json('{"x": 1e400, "y": -1E999, "z": NaN, "big": ' + digits + "}"))
    assert result.value == {"x": "1e400", "y": "-1E999", "z": "NaN", "big": digits}
    assert result.altered


def test_text_that_is_no_json_is_said_to_be_none() -> None:
    for text in ('{"a":', b"\xff\xfe\x00", "[" * 100_000, ""):
        with pytest.raises(NotJson):
            parse_json(text)


def test_a_structure_that_contains_itself_is_stored_with_the_place_named() -> None:
    loop: list[object] = [1]
    loop.append(loop)
    assert clean(loop).value == [1, "[refers to itself]"]


def test_the_same_object_at_two_places_is_no_loop() -> None:
    shared_part = {"a": 1}
    assert not clean([shared_part, shared_part]).altered


def test_a_deep_structure_keeps_its_depths_as_text() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    result = clean(deep)
    assert result.altered
    assert "bottom" in spelled(result.value)
    assert spelled(clean(result.value).value) == spelled(result.value)


def test_a_structure_deeper_than_python_can_follow_is_stored_as_well() -> None:
    deep: object = "bottom"
    for _ in range(200_000):
        deep = [deep]
    assert clean(deep).altered


def test_an_object_that_refuses_to_be_read_is_named_and_its_neighbours_are_kept() -> None:
    assert clean({"bad": Hostile(), "good": 1}).value == {"bad": "[unreadable Hostile]", "good": 1}


def test_many_alterations_are_counted_not_listed() -> None:
    result = clean(["\0"] * 1000)
    assert len(result.alterations) == 51
    assert result.alterations[-1] == "and 950 more"


def test_a_text_is_cut_between_characters_never_inside_one() -> None:
    for length in range(11_900, 11_936):  # the cut falls among the characters of four bytes
        result = clean("x" * length + "\U0001f600" * 100, limit_bytes=12_000)
        assert len(json_bytes(result.value)) <= 12_000
        assert "\ufffd" not in result.value
        kept, _, mark = result.value.partition("\u2026")
        assert set(kept) <= {"x", "\U0001f600"}
        assert mark.startswith(" [cut, ")
        assert result.original == "x" * length + "\U0001f600" * 100


def test_the_longest_texts_are_cut_first_and_exempt_fields_last() -> None:
    value = {"sha": "d" * 1_500, "log": "l" * 5_000, "note": "short"}
    result = clean(value, limit_bytes=2000, exempt=frozenset({"sha"}))
    assert result.value["sha"] == "d" * 1_500
    assert result.value["note"] == "short"
    assert len(result.value["log"]) < 500
    assert len(json_bytes(clean({"sha": "d" * 5000}, limit_bytes=500, exempt=frozenset({"sha"})).value)) <= 500


def test_twenty_megabytes_pass_whole_where_the_limit_allows_it() -> None:
    text = "\u3042" * 7_000_000
    result = clean(text, limit_bytes=32_000_000)
    assert result.value == text
    assert not result.altered


@shared
@given(value=anything)
def test_any_value_comes_back_from_jsonb_exactly_as_it_was_stored(value, through_jsonb) -> None:
    stored = clean(value).value
    assert spelled(through_jsonb(stored)) == spelled(stored)


@shared
@given(value=anything)
def test_normalising_again_changes_nothing(value) -> None:
    first = clean(value)
    again = clean(first.value)
    assert spelled(again.value) == spelled(first.value)
    assert not again.altered


@shared
@given(value=anything)
def test_every_stored_value_has_a_canonical_form(value) -> None:
    assert canonical_bytes(clean(value).value)


@shared
@given(value=json_values)
def test_ordinary_json_is_never_altered(value) -> None:
    result = clean(value)
    assert result.value == value
    assert not result.altered


@shared
@given(value=st.recursive(any_text | st.integers(), lambda i: st.lists(i) | st.dictionaries(any_text, i)), at=st.data())
def test_no_value_exceeds_its_limit(value, at) -> None:
    limit = at.draw(st.integers(0, 600))
    first = clean([value, value, value], limit_bytes=limit)
    assert len(json_bytes(first.value)) <= max(limit, LEAST_LIMIT)
    assert spelled(clean(first.value, limit_bytes=limit).value) == spelled(first.value)
