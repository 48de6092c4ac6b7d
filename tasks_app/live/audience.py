"""Who listens to a task, asked for many sockets at once: as strict as asking each alone (``Listener.of_task``).

Sessions, accounts and roles are read anew each time. Only the costly proof that a session's content belongs to an
account is remembered, for exactly that content and that password: a session that ended or changed, and a password
that changed, are another proof.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.access import Right, Role
from core.models import Membership
from core.principal import Principal
from tasks_app.live.reader import Listener, Withdrawn
from tasks_app.models import Task

BY_DATABASE = "django.contrib.sessions.backends.db"
REMEMBERED = 5000  # proofs
Asked = tuple[Listener, UUID]


def principals_of_tasks(asked: Sequence[Asked], tasks: Mapping[UUID, Task]) -> list[Principal | Withdrawn]:
    """Return each listener as a reader of the task, or Withdrawn. ``tasks``: by their ids, those that there are."""
    if settings.SESSION_ENGINE != BY_DATABASE:
        return [_alone(listener, task) for listener, task in asked]
    sessions = _sessions([listener for listener, _ in asked])
    claimed = {key: _claimed(content) for key, content in sessions.items()}
    users, roles = _members(set(claimed.values()), {task.workspace_id for task in tasks.values()})
    signed = {
        key: users[pk]
        for key, pk in claimed.items()
        if pk in users and _belongs(key, sessions[key], pk, users[pk].password)
    }
    return [_principal(signed.get(_key(listener)), tasks.get(task), roles) for listener, task in asked]


def _principal(
    user: User | None, task: Task | None, roles: Mapping[tuple[int, UUID], set[Role]]
) -> Principal | Withdrawn:
    if user is None or task is None:
        return Withdrawn()
    held = roles.get((user.pk, task.workspace_id), ())
    principal = Principal(user=user, workspace=task.workspace, roles=frozenset(held))
    return principal if principal.may(Right.TASKS_READ) else Withdrawn()


def _alone(listener: Listener, task: UUID) -> Principal | Withdrawn:
    try:
        return listener.of_task(task)
    except Withdrawn as withdrawn:
        return withdrawn


def _key(listener: Listener) -> str:
    return listener.cookies.get(settings.SESSION_COOKIE_NAME, "")


def _sessions(listeners: Sequence[Listener]) -> dict[str, str]:
    """Return the content of each session that has not ended, by its key."""
    keys = {key for listener in listeners if (key := _key(listener))}
    found = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return dict(found.values_list("session_key", "session_data"))


def _members(people: set[int], workspaces: set[UUID]) -> tuple[dict[int, User], dict[tuple[int, UUID], set[Role]]]:
    """Return the members among these people, whose accounts are open, and what each is in which workspace."""
    users: dict[int, User] = {}
    roles: dict[tuple[int, UUID], set[Role]] = {}
    rows = Membership.objects.filter(user__in=people, user__is_active=True, workspace__in=workspaces)
    for row in rows.select_related("user"):
        users[row.user_id] = row.user
        roles.setdefault((row.user_id, row.workspace_id), set()).add(Role(row.role))
    return users, roles


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
