"""Masked first, then normalised, the original kept; call arguments are refused rather than changed."""

import datetime
import json
import timeit

import pytest
from hypothesis import given, settings

from tasks_app.record.masker import Masker
from tasks_app.record.normaliser import normalise
from tasks_app.record.prepare import (
    ARGUMENTS_LIMIT,
    BINARY,
    JSON_LIKE,
    TEXT,
    VALUE_LIMIT,
    Prepared,
    Problem,
    check_arguments,
    prepare,
)
from tasks_app.record.rawjson import parse_json
from tests.unit.record.values import anything, json_values

SECRET = "correct-horse-battery"
MASKER = Masker([SECRET], key=b"k")
ORDINARY = {
    "ticket": "INC-4711",
    "status": "open",
    "title": "Checkout latency above 2 s in eu-west",
    "labels": ["sev2", "payments"],
    "service": {"name": "checkout", "region": "eu-west-1", "replicas": 6, "healthy": True, "load": 0.73},
    "created": "2026-11-20T09:14:03Z",
    "link": "https://tickets.example.org/INC-4711",
    "notes": "Rollback considered; the person on call was paged and answered after four minutes, see the log.",
    "assignee": None,
    "history": [{"at": 1, "what": "opened"}, {"at": 2, "what": "assigned"}],
}


def ready(value: object, **kwargs: object) -> Prepared:
    return prepare(value, masker=MASKER, **kwargs)


def problems(arguments: dict, **kwargs: object) -> list[str]:
    return [problem.field for problem in check_arguments(arguments, masker=MASKER, **kwargs)]


def test_an_ordinary_value_is_left_alone() -> None:
    result = ready(ORDINARY)
    assert result == Prepared(ORDINARY)
    assert result.value is not ORDINARY


def test_a_masked_value_is_not_called_altered_and_leaves_no_original() -> None:
    result = ready({"note": f"the {SECRET} again"})
    assert result.masked
    assert not result.altered
    assert result.blob is None


@pytest.mark.parametrize(
    ("value", "blob", "media_type"),
    [
        ("W\0s\0l", b"W\0s\0l", TEXT),
        (b"\xff\xfe\x00", b"\xff\xfe\x00", BINARY),
        ("ok \ud83d", b'"ok \\ud83d"', JSON_LIKE),
        ({"x": float("nan")}, b'{"x": NaN}', JSON_LIKE),
        (9007199254740993, b"9007199254740993", JSON_LIKE),
        (parse_json('{"a":1,"a":2}'), b'{"a": 1, "a": 2}', JSON_LIKE),
    ],
)
def test_the_original_of_an_altered_value_is_kept(value, blob, media_type) -> None:
    result = ready(value)
    assert result.altered
    assert (result.blob, result.blob_media_type) == (blob, media_type)


@pytest.mark.parametrize(
    "value", [f"\0{SECRET}", b"\xff" + SECRET.encode(), {"\0": SECRET}, {"password": "abc", "x": "\0"}]
)
def test_the_original_is_masked_as_well(value) -> None:
    result = ready(value)
    assert result.altered
    assert result.masked
    assert SECRET.encode() not in result.blob
    assert b"abc" not in result.blob


@pytest.mark.parametrize(
    ("value", "stored"),
    [((1, 2), [1, 2]), ({"token": "x" * 9}, None), ({1: 2}, {"1": 2}), (-0.0, 0.0), ({"$blob": 1}, {"$$blob": 1})],
)
def test_what_the_short_way_cannot_judge_goes_the_long_way(value, stored) -> None:
    assert json.dumps(ready(value).value) == json.dumps(normalise(MASKER.mask(value).value, limit_bytes=10**6).value)
    assert stored is None or json.dumps(ready(value).value) == json.dumps(stored)


@settings(deadline=None)
@given(value=anything)
def test_the_short_way_and_the_long_way_give_the_same(value) -> None:
    result = ready(value)
    long_way = normalise(MASKER.mask(value).value, limit_bytes=VALUE_LIMIT)
    assert json.dumps(result.value) == json.dumps(long_way.value)
    assert result.altered == (result.blob is not None) == bool(result.alterations)


@settings(deadline=None)
@given(value=anything)
def test_preparing_what_was_stored_changes_nothing(value) -> None:
    stored = ready(value).value
    assert ready(stored) == Prepared(stored)


def test_an_ordinary_value_of_500_bytes_takes_microseconds() -> None:
    best = min(timeit.repeat(lambda: ready(ORDINARY), number=200, repeat=20)) / 200
    assert best < 150e-6  # 30 us on an idle machine; the bound leaves room for a busy one


@settings(deadline=None)
@given(arguments=json_values)
def test_arguments_that_pass_the_check_come_back_the_same(arguments) -> None:
    found = check_arguments({"x": arguments}, masker=MASKER)
    if not found:
        assert ready({"x": arguments}).value == {"x": arguments}


@settings(deadline=None)
@given(value=anything)
def test_arguments_are_either_stored_as_they_are_or_refused(value) -> None:
    found = check_arguments({"x": value}, masker=MASKER)
    result = ready({"x": value})
    assert bool(found) or not (result.altered or result.masked)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"a": {"b": ["x", "W\0"]}}, "a.b[1]"),
        ({"n": 2**53}, "n"),
        ({"n": float("nan")}, "n"),
        ({"s": "\ud83d"}, "s"),
        ({"b": b"\xff"}, "b"),
        ({"b": b"text"}, "b"),
        ({"k": {1: 2}}, "k.1"),
        ({"$blob": 1}, "$blob"),
        ({"password": "x"}, "password"),
        ({"body": f"use {SECRET}"}, "body"),
        ({"tags": {"a"}}, "tags"),
        ({"at": datetime.date(2026, 11, 20)}, "at"),
    ],
)
def test_a_field_that_would_have_to_change_is_named(arguments, field) -> None:
    assert problems(arguments) == [field]


def test_the_reason_says_what_to_do_about_a_secret() -> None:
    [problem] = check_arguments({"token": "abcdef"}, masker=MASKER)
    assert isinstance(problem, Problem)
    assert "credential reference" in problem.reason
    assert "abcdef" not in problem.reason


def test_an_exempt_field_may_look_like_a_secret() -> None:
    assert problems({"token": "abcdef"}, exempt=frozenset({"token"})) == []
    assert problems({"token": SECRET}, exempt=frozenset({"token"})) == ["token"]
    assert problems({"token": "a\0"}, exempt=frozenset({"token"})) == ["token"]


def test_arguments_over_four_megabytes_are_refused_and_large_ones_are_taken_whole() -> None:
    room = ARGUMENTS_LIMIT - len('{"x":""}')
    assert problems({"x": "x" * room}) == []
    [problem] = check_arguments({"x": "x" * (room + 1)}, masker=MASKER)
    assert problem == Problem("arguments", "4,194,305 bytes of JSON; at most 4,194,304 are taken")


def test_a_result_over_its_limit_is_cut_and_kept_whole_beside_it() -> None:
    result = ready({"log": "l" * 20_000}, limit_bytes=12_000)
    assert result.altered
    assert len(json.dumps(result.value)) <= 12_000 + 10
    assert json.loads(result.blob) == {"log": "l" * 20_000}


def test_a_result_of_twenty_megabytes_is_taken_whole() -> None:
    text = "z" * 20_000_000
    assert ready(text) == Prepared(text)
