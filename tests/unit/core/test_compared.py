"""What is alike in two sequences, in bounded work."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import compared
from core.compared import Opcode, TooMuchWork, ends_alike, opcodes

FEW = st.lists(st.sampled_from("abc"), max_size=30)


def put_together(codes: list[Opcode], old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Read both back from what was told of them; a stretch that is told to be alike must be."""
    assert all(old[a:b] == new[c:d] for tag, a, b, c, d in codes if tag == "equal")
    was = [one for _, a, b, _, _ in codes for one in old[a:b]]
    return was, [one for *_, c, d in codes for one in new[c:d]]


@given(FEW, FEW)
def test_both_can_be_read_back_from_what_is_told_of_them(old: list[str], new: list[str]) -> None:
    for codes in (opcodes(old, new), ends_alike(old, new)):
        assert put_together(codes, old, new) == (old, new)


@given(FEW, FEW)
def test_no_search_costs_more_than_was_counted_for_it(old: list[str], new: list[str]) -> None:
    looks = 0

    class Counted(list[int]):
        def __iter__(self):
            nonlocal looks
            for one in super().__iter__():
                looks += 1
                yield one

    class Watched(compared._Bounded):
        def __init__(self, *given, **more) -> None:
            super().__init__(*given, **more)
            self.b2j = {one: Counted(places) for one, places in self.b2j.items()}

    whole = Watched(old, new, most=10**9, autojunk=False)
    whole.get_opcodes()
    assert looks <= 10**9 - whole.left


def test_what_takes_more_work_than_it_may_is_given_up_before_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = 0

    def search(self: SequenceMatcher[str], *given: int):
        nonlocal searched
        searched += 1
        return original(self, *given)

    original = SequenceMatcher.find_longest_match
    monkeypatch.setattr(SequenceMatcher, "find_longest_match", search)
    with pytest.raises(TooMuchWork):
        opcodes(["!"] * 1500 + ["end"], ["!", "?"] * 750)
    assert searched <= 2  # of more than a million pairs each, where 750 would have to be made


def test_what_both_begin_and_end_with_costs_nothing() -> None:
    same = ["!"] * 5000
    codes = opcodes([*same, "old", *same], [*same, "new", *same], most=2)
    assert [(tag, a, b) for tag, a, b, _, _ in codes] == [
        ("equal", 0, 5000),
        ("replace", 5000, 5001),
        ("equal", 5001, 10001),
    ]
