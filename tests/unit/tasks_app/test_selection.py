"""What changed between two selections of context, and the whole from what changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.runtime.selection import applied, changed

PARTS = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("before", "wanted", "expected"),
    [
        ("", "ab", ([], ["a", "b"])),
        ("ab", "abc", ([], ["c"])),
        ("abcd", "acd", ([1], [])),
        ("abc", "bcd", ([0], ["d"])),
        ("ab", "ba", ([0], ["a"])),
        ("ab", "ab", ([], [])),
    ],
)
def test_what_is_kept_keeps_its_order_and_what_is_new_comes_after_it(before, wanted, expected):
    assert changed(list(before), list(wanted)) == expected


@given(PARTS, PARTS)
def test_the_whole_comes_back_from_what_changed(before, wanted):
    dropped, added = changed(before, wanted)
    assert applied(before, dropped, added)[0] == wanted
