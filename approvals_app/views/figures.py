"""How long people let calls wait, what they refuse, and whether they read first: a page, and a file."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.rights import workspaces_of
from approvals_app.selectors.figures import Figures, approval_figures, figures_csv
from core.access import Right
from core.clock import database_now
from core.errors import NotFound
from core.principal import session_principal

SPANS = {
    "day": ("Last day", 1),
    "week": ("Last 7 days", 7),
    "month": ("Last 30 days", 30),
    "quarter": ("Last 90 days", 90),
}


@never_cache
@login_required
@require_safe
def figures(request: HttpRequest) -> HttpResponse:
    """Show the figures of the reader's workspaces."""
    span, found = _figures(request)
    tabs = [
        {"url": f"?span={key}", "label": label, "count": None, "is_current": key == span}
        for key, (label, _) in SPANS.items()
    ]
    context: dict[str, Any] = {"figures": found, "tool_lines": [*found.by_tool, found.all], "tabs": tabs, "span": span}
    return render(request, "approvals/figures.html", context)


@never_cache
@login_required
@require_safe
def figures_file(request: HttpRequest) -> HttpResponse:
    """Send the same figures as a table."""
    span, found = _figures(request)
    response = HttpResponse(figures_csv(found), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="approvals-{span}.csv"'
    return response


def _figures(request: HttpRequest) -> tuple[str, Figures]:
    span = request.GET.get("span", "week")
    if span not in SPANS:
        raise NotFound
    workspaces = workspaces_of(user=session_principal(request).user, right=Right.APPROVALS_READ)
    since = database_now() - timedelta(days=SPANS[span][1])
    return span, approval_figures(workspaces=workspaces, since=since)
