"""Conditions of rules: yes or no in time, or a failure with its reason."""

import subprocess
import sys

import pytest

from approvals_app import conditions
from approvals_app.conditions import condition_match
from core.json_text import MAX_DEPTH


def test_a_condition_answers_yes_or_no():
    assert condition_match("arguments.amount > 100", {"arguments": {"amount": 200}}).matched
    no = condition_match("arguments.amount > 100", {"arguments": {"amount": 50}})
    assert (no.matched, no.failed) == (False, "")


def test_what_takes_longer_than_the_limit_is_a_failure_whatever_it_came_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conditions, "MOST_SECONDS", 0.0)
    late = condition_match("true", {})
    assert not late.matched
    assert late.failed.startswith("It took ")
    assert late.failed.endswith("the limit is 0 s.")


def test_what_would_go_on_for_ever_is_stopped_by_its_iterations():
    numbers = {"arguments": {"numbers": list(range(300))}}
    nested = "arguments.numbers.all(a, arguments.numbers.all(b, arguments.numbers.all(c, a + b + c >= 0)))"
    endless = condition_match(nested, numbers)
    assert not endless.matched
    assert "iteration" in endless.failed.lower()


def test_what_is_not_there_is_a_failure_with_its_reason():
    missing = condition_match("arguments.amount > 100", {"arguments": {}})
    assert not missing.matched
    assert "amount" in missing.failed


DEEP = """
from approvals_app.conditions import condition_match
value = 1
for _ in range({depth}):
    value = {{"a": value}}
match = condition_match("arguments.a == 1", {{"arguments": value}})
print(match.matched, match.failed)
"""


def test_arguments_of_any_depth_are_a_failure_and_never_the_end_of_the_process():
    said = subprocess.run([sys.executable, "-c", DEEP.format(depth=6500)], capture_output=True, text=True)
    assert (said.returncode, said.stdout.strip()) == (
        0,
        "False The call holds values more than 64 levels deep in each other.",
    )


def test_what_a_call_may_hold_is_evaluated_down_to_its_last_level():
    value: object = 1
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    assert condition_match("size(arguments.a) == 1", {"arguments": value}).matched


@pytest.mark.parametrize("search", ["arguments.s.contains(arguments.t)", "arguments.s.contains('a' + arguments.t)"])
def test_a_text_of_a_call_is_looked_for_within_another_only_where_both_are_short(search: str):
    assert condition_match(search, {"arguments": {"s": "baa", "t": "a"}}).matched
    long = condition_match(search, {"arguments": {"s": "a" * 60_000, "t": {"b": 60_000 * "a"}}})
    assert (long.matched, "over 100,000 characters" in long.failed) == (False, True)


def test_what_a_rule_spells_itself_is_looked_for_in_texts_of_any_length():
    long = {"arguments": {"s": "a" * 1_000_000 + "b"}}
    assert condition_match("arguments.s.contains('ab') && arguments.s.contains( \"b\" )", long).matched
