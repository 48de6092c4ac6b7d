"""What differs between two calls is told by argument and by word, whatever the order of keys."""

import pytest

from approvals_app import differences as module
from approvals_app.differences import Difference, differences
from core.compared import MOST_WORK, Opcode, TooMuchWork


def told(one: Difference) -> str:
    marks = {"same": "{}", "gone": "[-{}-]", "new": "[+{}+]", "left_out": "<{}>"}
    return "".join(marks[piece.kind].format(piece.text) for piece in one.pieces)


def only(before: object, after: object) -> Difference:
    (found,) = differences({"a": before}, {"a": after})
    return found


def test_a_changed_word_is_marked_and_the_rest_is_not():
    found = only("pool.size = 20", "pool.size = 40")
    assert (found.kind, told(found)) == ("changed", "pool.size = [-20-][+40+]")


def test_keys_in_another_order_are_no_difference():
    assert only({"x": 1, "y": 2}, {"y": 2, "x": 1}).kind == "same"


def test_a_text_and_a_number_that_look_alike_differ():
    found = only("1", 1)
    assert (found.kind, told(found)) == ("changed", "[-1-][+1+]")


def test_arguments_that_only_one_side_has_are_said_so():
    kinds = {one.name: one.kind for one in differences({"old": 1, "both": 1}, {"both": 1, "new": 2})}
    assert kinds == {"both": "same", "new": "new", "old": "gone"}


def test_of_a_long_stretch_that_is_alike_the_middle_is_left_out_and_its_length_said():
    text = "word " * 500
    found = only(text + "end", text + "finish")
    assert told(found).endswith("[-end-][+finish+]")
    assert "more characters>" in told(found)
    assert len(told(found)) < 400


def test_what_is_too_long_to_compare_is_shown_as_a_whole_on_both_sides():
    kinds = {piece.kind for piece in only("a\n" * 40_000, "b\n" * 40_000).pieces}
    assert kinds == {"gone", "new", "left_out"}


def test_what_would_take_minutes_to_compare_is_shown_as_a_whole_but_for_its_ends():
    found = only("so " + "!" * 1400 + " it is", "so " + "!?" * 700 + " it is")
    assert told(found) == f"so ![-{'!' * 1399}-][+{('!?' * 700)[1:]}+] it is"


def test_what_would_take_minutes_by_words_is_compared_by_lines():
    before, after = "\n".join(["!" * 30] * 40 + ["a"]), "\n".join(["?!" * 15] * 40 + ["b", "!" * 30, "c"])
    assert ("!" * 30 + "\n", "same") in [(piece.text, piece.kind) for piece in only(before, after).pieces]


def test_a_long_comparison_takes_nothing_from_the_arguments_beside_it():
    hard, easy = ("!" * 1500, "!?" * 750), ("pool.size = 20", "pool.size = 40")
    found = differences({"hard": hard[0], "easy": easy[0]}, {"hard": hard[1], "easy": easy[1]})
    assert told(found[1]) == "pool.size = [-20-][+40+]"


def test_the_work_of_all_arguments_together_is_bounded(monkeypatch: pytest.MonkeyPatch):
    allowed: list[int] = []

    def noted(old: object, new: object, *, most: int) -> list[Opcode]:
        allowed.append(most)
        raise TooMuchWork

    monkeypatch.setattr(module, "opcodes", noted)
    names = [f"a{at}" for at in range(70)]
    differences(dict.fromkeys(names, "one two"), dict.fromkeys(names, "two three"))
    assert 0 < sum(allowed) <= MOST_WORK
