"""Who looks at a page: the signed-in person in the workspace of what the page shows (case-25)."""

from uuid import UUID

from django.http import HttpRequest

from core.access import Right
from core.errors import NotFound
from core.models import Membership
from core.principal import Principal, session_principal
from tasks_app.models import Task


def workspace_reader(request: HttpRequest) -> Principal:
    """Return the person in the workspace that the address names, else in their own. Raises NotFound, Forbidden."""
    return session_principal(request, slug=request.GET.get("workspace", "")).require(Right.TASKS_READ)


def workspace_choices(principal: Principal) -> list[tuple[str, str]]:
    """Return slug and name of each of the person's workspaces; none for who has nothing to choose."""
    if not principal.many:
        return []
    mine = Membership.objects.filter(user=principal.user).order_by("workspace__name")
    return list(mine.values_list("workspace__slug", "workspace__name").distinct())


def task_reader(request: HttpRequest, task: UUID) -> tuple[Principal, Task]:
    """Return the person and the task. Raises NotFound where they have no business, as for a task that never was."""
    row = Task.objects.select_related("owner", "workspace").filter(pk=task).first()
    if row is None:
        raise NotFound
    principal = session_principal(request, slug=row.workspace.slug)
    if not principal.may(Right.TASKS_READ):
        raise NotFound
    return principal, row


def number(request: HttpRequest, name: str) -> int | None:
    """Return a sequence from the address; None where there is none. Raises NotFound for what is no number."""
    given = request.GET.get(name, "")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 18:
        raise NotFound
    return int(given)


def key(request: HttpRequest, name: str) -> UUID | None:
    """Return an id from the address; None where there is none. Raises NotFound for what is no id."""
    try:
        return UUID(request.GET[name]) if request.GET.get(name) else None
    except ValueError:
        raise NotFound from None
