"""What is changed in the console is said in the administration stream, by whoever changed it."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest

from core.models import Workspace
from tasks_app.record.append import append_administration
from tasks_app.record.events import RoleChanged


def actor_of(request: HttpRequest) -> str:
    """Return the author of a change in the console."""
    return f"person:{request.user.get_username()}"


def person_changed(
    person: User, *, what: str, before: Any, after: Any, actor: str, elsewhere: Collection[UUID] = ()
) -> None:
    """Say a change of somebody's in the streams of their workspaces, or in ``elsewhere`` if they have none."""
    event = RoleChanged(what=what, before=before, after_change=after)
    theirs = Workspace.objects.filter(memberships__user=person).order_by("pk").values_list("pk", flat=True).distinct()
    for workspace in list(theirs) or sorted(elsewhere):
        append_administration(workspace=workspace, events=[event], actor=actor)
