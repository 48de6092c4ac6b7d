"""What is larger than 8 KB goes into blobs and comes back whole (case-23)."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks_app.record.canonical import json_bytes
from tasks_app.record.payload import (
    EVENT_LIMIT,
    BlobMismatch,
    BlobPart,
    is_reference,
    original_reference,
    resolve,
    split_large,
)
from tests.unit.record.values import json_names, json_values


def loader_of(parts: list[BlobPart]):
    return {part.sha256: part.content for part in parts}.__getitem__


def outcome(result: object) -> dict:
    return {"name": "ticket", "attempt": 1, "status": "ok", "result": result}


def check(data: dict, limit: int = EVENT_LIMIT) -> tuple[dict, list[BlobPart]]:
    """Split and check what holds for every split."""
    before = json.dumps(data)
    small, parts = split_large(data, limit=limit)
    assert json.dumps(data) == before
    assert resolve(small, loader_of(parts)) == data
    for part in parts:
        assert part.sha256 == hashlib.sha256(part.content).hexdigest()
        assert part.size == len(part.content)
    return small, parts


@pytest.mark.parametrize("size", [0, 7_900, 8_000])
def test_a_result_that_fits_stays_in_the_event(size) -> None:
    data = outcome("r" * size)
    assert check(data) == (data, [])


@pytest.mark.parametrize("result", ["r" * 8_192, "r" * 256 * 1024, "r" * 20_000_000, "\u3042" * 2_720])
def test_a_larger_result_becomes_a_reference_with_size_digest_and_head(result) -> None:
    small, [part] = check(outcome(result))
    assert len(json_bytes(small)) <= EVENT_LIMIT
    assert part.content == result.encode()
    assert small == outcome(
        {
            "$blob": {
                "sha256": part.sha256,
                "size": len(result.encode()),
                "media_type": "text/plain; charset=utf-8",
                "head": result[:200],
            }
        }
    )


def test_the_sizes_of_the_case_count_bytes_not_characters() -> None:
    assert check(outcome("r" * 8_000))[1] == []
    assert check(outcome("r" * 8_100))[1] == []
    assert check(outcome("\u3042" * 2_666))[1] == []
    assert len(check(outcome("\u3042" * 2_720))[1]) == 1


def test_only_the_smallest_value_that_is_enough_is_moved() -> None:
    small, [part] = check(outcome({"body": {"page": "p" * 9_000, "status": 200}, "seconds": 0.2}))
    assert is_reference(small["result"]["body"]["page"])
    assert small["result"]["body"]["status"] == 200
    assert part.content == b"p" * 9_000


def test_a_list_of_many_small_values_is_moved_as_one() -> None:
    small, [part] = check(outcome(list(range(5_000))))
    assert is_reference(small["result"])
    assert part.media_type == "application/json"


def test_equal_values_share_one_blob() -> None:
    small, parts = check({"a": "x" * 9_000, "b": "x" * 9_000})
    assert len(parts) == 1
    assert small["a"] == small["b"]


def test_data_that_is_wide_and_not_deep_is_moved_as_a_whole() -> None:
    small, [_] = check({f"field {at}": "v" * 50 for at in range(1_000)})
    assert is_reference(small)


def test_moments_written_beside_a_moved_event_are_kept() -> None:
    data = {f"field {at}": "v" * 50 for at in range(1_000)}
    small, parts = split_large(data)
    assert resolve(small | {"deadline": "12:00"}, loader_of(parts)) == data | {"deadline": "12:00"}


def test_data_that_holds_references_already_is_split_around_them() -> None:
    reference, part = original_reference(b"\0" * 10, "application/octet-stream")
    small, parts = split_large(outcome({"original": reference, "text": "t" * 9_000}))
    assert small["result"]["original"] == reference
    assert resolve(small, loader_of([*parts, part]))["result"]["original"] == reference


def test_another_content_under_the_name_of_a_blob_is_refused() -> None:
    small, _ = split_large(outcome("r" * 9_000))
    with pytest.raises(BlobMismatch):
        resolve(small, lambda _: b"r" * 8_999)


@settings(deadline=None)
@given(
    data=st.dictionaries(json_names, json_values, max_size=8),
    text=st.text(st.characters(exclude_categories=("Cs",)), max_size=100),
    times=st.integers(0, 400),
    limit=st.integers(1_700, 3_000),
)
def test_whatever_is_split_comes_back_the_same(data, text, times, limit) -> None:
    small, _ = check(data | {"long": text * times, "list": [text] * times}, limit)
    assert len(json_bytes(small)) <= limit
