"""What is changed in the console is said in the administration stream, by whoever changed it."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from core.models import Workspace
from tasks_app.record.append import append_administration
from tasks_app.record.events import RoleChanged


def actor_of(request: HttpRequest) -> str:
    """Return the author of a change in the console."""
    return f"person:{request.user.get_username()}"


def person_changed(
    person: User, *, what: str, before: Any, after: Any, actor: str, elsewhere: User | None = None
) -> None:
    """Say a change of somebody's in the streams of their workspaces, or in those of ``elsewhere`` if they have none."""
    event = RoleChanged(what=what, before=before, after_change=after)
    said_in = Workspace.objects.filter(memberships__user=person).distinct()
    for workspace in said_in or Workspace.objects.filter(memberships__user=elsewhere).distinct():
        append_administration(workspace=workspace.pk, events=[event], actor=actor)
