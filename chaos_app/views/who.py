"""Who looks at drills, and who may run them."""

from uuid import UUID

from django.http import HttpRequest

from chaos_app.models import DrillRun
from core.access import Right
from core.errors import NotFound
from core.principal import Principal, session_principal


def reader(request: HttpRequest) -> Principal:
    """Return the person in their workspace. Raises Forbidden."""
    return session_principal(request, slug=request.GET.get("workspace", "")).require(Right.TASKS_READ)


def run_reader(request: HttpRequest, run: UUID) -> Principal:
    """Return the person in the run's workspace. Raises NotFound where they have no business."""
    slug = DrillRun.objects.filter(pk=run).values_list("workspace__slug", flat=True).first()
    if slug is None:
        raise NotFound
    principal = session_principal(request, slug=slug)
    if not principal.may(Right.TASKS_READ):
        raise NotFound
    return principal
