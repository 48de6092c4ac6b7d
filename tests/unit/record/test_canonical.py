"""The call digest binds what people approve to what runs."""

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.record.canonical import (
    NotCanonical,
    args_digest,
    canonical_bytes,
    json_bytes,
    json_equal,
    schema_digest,
)
from tests.unit.record.values import json_values

CALL = {
    "tool": "ticket.open",
    "contract_version": 1,
    "schema_digest": "0" * 64,
    "arguments": {"title": "Slow", "sev": 2},
    "seen": None,
}


def test_the_canonical_form_is_that_of_the_standard() -> None:
    # The example of RFC 8785, section 3.2.3: keys by UTF-16 unit, numbers as ECMAScript writes them.
    value = {"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "x", "1": "One", "\U0001f600": "y", "\x80": "z"}
    assert list(json.loads(canonical_bytes(value))) == ["\r", "1", "\x80", "\u20ac", "\U0001f600", "\ufb33"]
    assert canonical_bytes([333333333.33333329, 1e30, 4.50, 2e-3, 1e-27]) == (
        b"[333333333.3333333,1e+30,4.5,0.002,1e-27]"
    )


@given(value=json_values)
def test_the_order_of_keys_does_not_matter(value) -> None:
    turned = json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert canonical_bytes(turned) == canonical_bytes(value)


@given(value=json_values)
def test_the_canonical_form_reads_back_equal(value) -> None:
    assert json.loads(canonical_bytes(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53, "\ud83d", {1: 2}, {"\ud83d": 1}, b"x", object(), {1, 2}])
def test_what_has_no_canonical_form_is_refused(value) -> None:
    with pytest.raises(NotCanonical):
        canonical_bytes(value)


def test_a_loop_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(NotCanonical):
        canonical_bytes(loop)


def test_the_call_digest_is_the_hash_of_the_five_bound_things() -> None:
    text = (
        '{"arguments":{"sev":2,"title":"Slow"},"contract_version":1,"schema_digest":"'
        + "0" * 64
        + '","seen":null,"tool":"ticket.open"}'
    )
    assert args_digest(**CALL) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "ticket.close"},
        {"contract_version": 2},
        {"schema_digest": "1" * 64},
        {"arguments": {"title": "Slow", "sev": 3}},
        {"arguments": {"title": "Slow", "sev": "2"}},
        {"seen": "abc"},
    ],
)
def test_a_change_of_any_of_them_changes_the_digest(change) -> None:
    assert args_digest(**(CALL | change)) != args_digest(**CALL)


def test_the_digest_of_a_schema_does_not_depend_on_the_order_of_its_keys() -> None:
    assert schema_digest({"a": 1, "b": 2}) == schema_digest({"b": 2, "a": 1})


def test_equal_means_the_same_json_value() -> None:
    assert json_equal({"a": 1}, {"a": 1.0})
    assert not json_equal(True, 1)
    assert not json_equal("1", 1)


@given(value=st.text(st.characters(exclude_categories=("Cs",))))
def test_a_size_in_bytes_counts_utf_8(value) -> None:
    assert json.loads(json_bytes(value)) == value
    assert len(json_bytes("\u3042")) == 5
