"""Conditions of rules: yes or no in time, or a failure with its reason."""

import pytest

from approvals_app import conditions
from approvals_app.conditions import condition_match


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
