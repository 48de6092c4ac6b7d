"""Who listens: asked again at every read, so that a withdrawn right or an ended session ends the updates."""

from dataclasses import dataclass
from datetime import datetime
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import get_token

from core.access import Right, Role
from core.errors import HandrailError, NotFound, Unauthenticated
from core.models import Membership, Workspace
from core.principal import Principal, session_principal
from core.step_up import stepped_up_at
from tasks_app.models import Task


class Withdrawn(Exception):
    """The listener may not read this, or not any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """The browser at the other end of a socket, by its cookies."""

    cookies: dict[str, str]

    def user(self) -> User:
        """Return who is signed in right now. Raises Withdrawn."""
        user = get_user(self._request())
        if isinstance(user, User) and user.is_active:
            return user
        raise Withdrawn

    def stepped_up_at(self) -> datetime | None:
        """Return when the session last showed a second factor, or None."""
        return stepped_up_at(self._request())

    def _request(self) -> HttpRequest:
        """Return what stands for a request: its session is read afresh, since it may have ended."""
        key = self.cookies.get(settings.SESSION_COOKIE_NAME) or None
        store = import_module(settings.SESSION_ENGINE).SessionStore(key)
        return cast(HttpRequest, SimpleNamespace(session=store))

    def in_workspace(self, slug: str) -> Principal:
        """Return the listener as a reader of a workspace's tasks. Raises Withdrawn."""
        request = SimpleNamespace(user=self.user(), session={})
        try:
            return session_principal(cast(HttpRequest, request), slug=slug).require(Right.TASKS_READ)
        except (HandrailError, NotFound, Unauthenticated):
            raise Withdrawn from None

    def of_task(self, task: UUID) -> Principal:
        """Return the listener as a reader of a task. Raises Withdrawn, also for a task that never was."""
        user = self.user()
        workspace = Workspace.objects.filter(tasks=task).first()
        roles = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
        if workspace is None:
            raise Withdrawn
        principal = Principal(user=user, workspace=workspace, roles=frozenset(map(Role, roles)))
        if not principal.may(Right.TASKS_READ):
            raise Withdrawn
        return principal

    def csrf_token(self) -> str:
        """Return a token for the forms of the page that this browser has; empty where it has none."""
        secret = self.cookies.get(settings.CSRF_COOKIE_NAME)
        if not secret:
            return ""
        request = HttpRequest()
        request.META["CSRF_COOKIE"] = secret
        return get_token(request)


def workspace_of(task: UUID) -> Any:
    """Return the id of a task's workspace. Raises Withdrawn."""
    found = Task.objects.filter(pk=task).values_list("workspace_id", flat=True).first()
    if found is None:
        raise Withdrawn
    return found


def cookies_of(scope: Any) -> dict[str, str]:
    """Return the cookies that a browser sent with its handshake."""
    text = "; ".join(value.decode("latin1") for name, value in scope.get("headers", []) if name == b"cookie")
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(text).items()}
    except CookieError:
        return {}
