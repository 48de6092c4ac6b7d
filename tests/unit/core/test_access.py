"""The table of roles and rights: written out once more by hand, so that no edit of it goes unseen."""

import ast
from pathlib import Path

import pytest

from core.access import RIGHTS, Right, Role, may, rights_of

ROOT = Path(__file__).resolve().parents[3]
# A column a role, in the order of Role: viewer, operator, approver, engineer, admin, auditor.
TABLE = {
    Right.TASKS_READ: "v o a e m u",
    Right.APPROVALS_READ: "v o a e m u",
    Right.TASKS_CREATE: ". o . e m .",
    Right.TASKS_OPERATE: ". o . e m .",
    Right.TASKS_SETTLE: ". o a e m .",
    Right.STOPS_SET: ". o a e m .",
    Right.WORKERS_DRAIN: ". o . e m .",
    Right.GATE_USE: ". o . e m .",
    Right.APPROVALS_DECIDE: ". . a . m .",
    Right.RECORD_EXPORT: ". . . e m u",
    Right.AUDIT_READ: ". . . e m u",
    Right.DRILLS_RUN: ". . . e m .",
    Right.ADMINISTER: ". . . . m .",
}


@pytest.mark.parametrize("right", Right)
def test_the_table_says_who_may_do_what(right: Right):
    said = [mark != "." for mark in TABLE[right].split()]
    assert [may(frozenset({role}), right) for role in Role] == said


def test_every_role_and_every_right_is_in_the_table():
    assert set(RIGHTS) == set(Role)
    assert rights_of(Role) == set(Right)


def test_several_roles_carry_what_each_carries_and_none_carries_nothing():
    both = frozenset({Role.APPROVER, Role.AUDITOR})
    assert rights_of(both) == RIGHTS[Role.APPROVER] | RIGHTS[Role.AUDITOR]
    assert not any(may(frozenset(), right) for right in Right)


def test_nobody_asks_for_a_role_where_the_table_should_be_asked():
    """Pages, API, sockets and console ask for a right; a comparison with a role would be a second table."""
    asked = []
    for package in ("core", "tasks_app", "approvals_app", "chaos_app"):
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text())
            compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
            named = [n for one in compared for n in ast.walk(one) if isinstance(n, ast.Attribute)]
            asked += [str(path) for n in named if isinstance(n.value, ast.Name) and n.value.id == "Role"]
    assert asked == []
