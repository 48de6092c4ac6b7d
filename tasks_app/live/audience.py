"""Who listens to a task, asked for many sockets at once: as strict as asking each alone (``Listener.of_task``).

Sessions, accounts and roles are read anew each time. Only the costly proof that a session's content belongs to an
account is remembered, for exactly that content and that password: a session that ended or changed, and a password
that changed, are another proof.
"""

from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.access import Right, Role
from core.models import Membership, Workspace
from core.principal import Principal
from tasks_app.live.reader import Listener, Withdrawn
from tasks_app.models import Task

BY_DATABASE = "django.contrib.sessions.backends.db"
REMEMBERED = 5000  # proofs
Asked = tuple[Listener, UUID]


def principals_of_tasks(asked: Sequence[Asked]) -> list[Principal | Withdrawn]:
    """Return each listener as a reader of the task, or Withdrawn."""
    if settings.SESSION_ENGINE != BY_DATABASE:
        return [_alone(listener, task) for listener, task in asked]
    users = _users([listener for listener, _ in asked])
    workspaces = _workspaces({task for _, task in asked})
    roles = _roles({user.pk for user in users.values()}, {one.pk for one in workspaces.values()})
    return [_principal(users.get(_key(listener)), workspaces.get(task), roles) for listener, task in asked]


def _principal(
    user: User | None, workspace: Workspace | None, roles: dict[tuple[int, UUID], frozenset[Role]]
) -> Principal | Withdrawn:
    if user is None or workspace is None:
        return Withdrawn()
    held = roles.get((user.pk, workspace.pk), frozenset())
    principal = Principal(user=user, workspace=workspace, roles=held)
    return principal if principal.may(Right.TASKS_READ) else Withdrawn()


def _alone(listener: Listener, task: UUID) -> Principal | Withdrawn:
    try:
        return listener.of_task(task)
    except Withdrawn as withdrawn:
        return withdrawn


def _key(listener: Listener) -> str:
    return listener.cookies.get(settings.SESSION_COOKIE_NAME, "")


def _users(listeners: Sequence[Listener]) -> dict[str, User]:
    """Return who is signed in right now, by the key of their session."""
    keys = {key for listener in listeners if (key := _key(listener))}
    found = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    data = dict(found.values_list("session_key", "session_data"))
    claimed = {key: _claimed(content) for key, content in data.items()}
    users = User.objects.filter(pk__in={pk for pk in claimed.values() if pk}, is_active=True).in_bulk()
    return {
        key: users[pk]
        for key, pk in claimed.items()
        if pk in users and _belongs(key, data[key], pk, users[pk].password)
    }


@lru_cache(REMEMBERED)
def _claimed(content: str) -> int:
    """Return the account that a session's content names; 0 for none."""
    named = SessionStore().decode(content).get(SESSION_KEY, "")
    return int(named) if str(named).isdecimal() else 0


@lru_cache(REMEMBERED)
def _belongs(key: str, content: str, user: int, password: str) -> bool:
    """Ask Django itself, once for each content and password, whether the session is this account's."""
    try:
        return bool(Listener(cookies={settings.SESSION_COOKIE_NAME: key}).user().pk == user)
    except Withdrawn:
        return False


def _workspaces(tasks: set[UUID]) -> dict[UUID, Workspace]:
    found = Task.objects.filter(pk__in=tasks).only("workspace").select_related("workspace")
    return {task.pk: task.workspace for task in found}


def _roles(users: set[int], workspaces: set[UUID]) -> dict[tuple[int, UUID], frozenset[Role]]:
    held: dict[tuple[int, UUID], set[Role]] = {}
    rows = Membership.objects.filter(user__in=users, workspace__in=workspaces)
    for user, workspace, role in rows.values_list("user_id", "workspace_id", "role"):
        held.setdefault((user, workspace), set()).add(Role(role))
    return {key: frozenset(roles) for key, roles in held.items()}
