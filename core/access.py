"""Who may do what: one pure table used by pages, API, sockets and admin alike."""

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
    STOPS_SET = "stops:set"
    RECORD_EXPORT = "record:export"
    DRILLS_RUN = "drills:run"
    ADMINISTER = "administer"


_READ = frozenset({Right.TASKS_READ, Right.APPROVALS_READ})
_OPERATE = _READ | {Right.TASKS_CREATE, Right.TASKS_OPERATE, Right.TASKS_SETTLE, Right.STOPS_SET}

RIGHTS: dict[Role, frozenset[Right]] = {
    Role.VIEWER: _READ,
    Role.OPERATOR: frozenset(_OPERATE),
    Role.APPROVER: _READ | {Right.APPROVALS_DECIDE, Right.TASKS_SETTLE, Right.STOPS_SET},
    Role.ENGINEER: frozenset(_OPERATE | {Right.RECORD_EXPORT, Right.DRILLS_RUN}),
    Role.ADMIN: frozenset(Right),
    Role.AUDITOR: _READ | {Right.RECORD_EXPORT},
}


def may(roles: frozenset[Role], right: Right) -> bool:
    """Tell whether one of ``roles`` carries ``right``."""
    return any(right in RIGHTS[role] for role in roles)
