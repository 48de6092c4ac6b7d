"""One run beside another."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chaos_app.selectors.comparing import compared, run_before, runs_to_compare
from chaos_app.selectors.runs import run_get
from chaos_app.views.who import run_reader
from core.errors import NotFound


@never_cache
@login_required
@require_safe
def compare_page(request: HttpRequest, run: UUID) -> HttpResponse:
    """Show what differs; ``?with=RUN`` chooses the other one, else it is the one before."""
    principal = run_reader(request, run)
    workspace = principal.workspace
    now = run_get(workspace=workspace, run=run)
    chosen = request.GET.get("with", "")
    before = run_get(workspace=workspace, run=_uuid(chosen)) if chosen else run_before(now)
    context = {
        "run": now,
        "before": before,
        "found": compared(before, now) if before else None,
        "others": runs_to_compare(workspace=workspace, run=now),
        "principal": principal,
    }
    return render(request, "drills/compare.html", context)


def _uuid(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFound from error
