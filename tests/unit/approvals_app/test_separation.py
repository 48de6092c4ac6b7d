"""Separation of duties is one function (rule 6)."""

import pytest

from approvals_app.separation import barred, parties


@pytest.mark.parametrize("party", ["ada", "bo", "cy"])
def test_rule_6_starter_owner_and_editor_never_count(party):
    never = parties(starter="ada", owner="bo", editor="cy")
    assert "somebody else has to decide" in (barred(never=never, username=party) or "")


def test_everybody_else_counts():
    never = parties(starter=None, owner="bo")
    assert barred(never=never, username="dee") is None
    assert [entry["user"] for entry in never] == ["bo"]


def test_whoever_is_several_parties_reads_all_reasons():
    said = barred(never=parties(starter="ada", owner="ada"), username="ada")
    assert said == "You started this task and own this task: somebody else has to decide."
