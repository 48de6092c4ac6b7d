"""Who may do what: one pure table used by pages, API, sockets and admin alike."""

from collections.abc import Iterable
from enum import StrEnum


class Role(StrEnum):
    """What a member is in a workspace."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ENGINEER = "engineer"
    ADMIN = "admin"
    AUDITOR = "auditor"


class Right(StrEnum):
    """One thing that a person or a token may do; the values are also the scopes of API tokens."""

    TASKS_READ = "tasks:read"
    TASKS_CREATE = "tasks:create"
    TASKS_OPERATE = "tasks:operate"
    TASKS_SETTLE = "tasks:settle"
    APPROVALS_READ = "approvals:read"
    APPROVALS_DECIDE = "approvals:decide"
    GATE_USE = "gate:use"  # an agent outside of Handrail: ask, wait, use, report
    STOPS_SET = "stops:set"
    RECORD_EXPORT = "record:export"
    DRILLS_RUN = "drills:run"
    AUDIT_READ = "audit:read"
    WORKERS_DRAIN = "workers:drain"
    ADMINISTER = "administer"


_READ = {Right.TASKS_READ, Right.APPROVALS_READ}
_OPERATE = _READ | {
    Right.TASKS_CREATE,
    Right.TASKS_OPERATE,
    Right.TASKS_SETTLE,
    Right.STOPS_SET,
    Right.WORKERS_DRAIN,
    Right.GATE_USE,
}
_PROVE = {Right.RECORD_EXPORT, Right.AUDIT_READ}

# Whoever decides need not operate, whoever proves can change nothing; whoever administers may do everything in their
# workspace. Rule 6 (nobody decides what they themselves asked for) stands above this table.
RIGHTS: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset(_READ),
    Role.OPERATOR: frozenset(_OPERATE),
    Role.APPROVER: frozenset(_READ | {Right.APPROVALS_DECIDE, Right.TASKS_SETTLE, Right.STOPS_SET}),
    Role.ENGINEER: frozenset(_OPERATE | _PROVE | {Right.DRILLS_RUN}),
    Role.ADMIN: frozenset(Right),
    Role.AUDITOR: frozenset(_READ | _PROVE),
}

# Deciding, and saying what became of a call that nobody can look up, is a person's word: no program's token gives it.
PEOPLE_ONLY = frozenset({Right.APPROVALS_DECIDE, Right.TASKS_SETTLE})


def rights_of(roles: Iterable[Role]) -> frozenset[Right]:
    """Return everything that these roles carry together."""
    return frozenset(right for role in roles for right in RIGHTS[role])


def may(roles: frozenset[Role], right: Right) -> bool:
    """Tell whether one of ``roles`` carries ``right``."""
    return right in rights_of(roles)
