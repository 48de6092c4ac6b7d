"""What an agent wrote can be seen whole."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import clip, escape_char, is_plain, is_unseen, runs, visible

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
INVISIBLE = "\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u2028\u2029\u2060\u2800\u3164\ufe0f\ufeff\uffa0"
TAGS = "".join(chr(code) for code in range(0xE0000, 0xE0080))
SPACES = "\u00a0\u2003\u3000\u202f"


@pytest.mark.parametrize("char", [*BIDI, *INVISIBLE, *TAGS, *SPACES, "\x00", "\r", "\x1b", "\x7f", "\ud83d", "\ue000"])
def test_a_character_that_cannot_be_seen_is_shown_as_an_escape(char: str) -> None:
    assert char not in visible(f"a{char}b")
    assert visible(char) == escape_char(char)


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines\tand a tab", "Größe", "日本語", "עברית", "€ ± ≠", "e\u0301", "\\u202e"]
)
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert [run.escaped for run in runs(text)] == [False]


@given(st.text(alphabet=st.characters(codec=None)))
def test_the_quick_look_agrees_with_the_look_at_each_character(text: str) -> None:
    assert is_plain(text) == (not any(map(is_unseen, text)))


@given(st.text(alphabet=st.characters(codec=None)))
def test_nothing_invisible_is_left_and_nothing_visible_is_lost(text: str) -> None:
    shown = visible(text)
    assert not any(map(is_unseen, shown))
    kept = [char for char in text if not is_unseen(char)]
    assert [char for run in runs(text) if not run.escaped for char in run.text] == kept


@given(st.text(alphabet=st.characters(codec=None)))
def test_unicode_calls_nothing_that_stays_a_control_or_a_format_character(text: str) -> None:
    left = {unicodedata.category(char) for char in visible(text) if char not in "\n\t"}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(alphabet=st.characters(codec=None)), st.text(alphabet=st.characters(codec=None)))
def test_two_texts_that_differ_look_different(one: str, other: str) -> None:
    if one != other:
        assert list(runs(one)) != list(runs(other))


def test_a_cut_says_how_much_is_hidden_and_never_splits_a_code_point() -> None:
    assert clip("ab\U0001f600cd", 3) == ("ab\U0001f600", 2)
    assert clip("abc", 3) == ("abc", 0)
