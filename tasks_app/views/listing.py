"""The list of tasks: filters in the address, counts as filters, pages by key."""

from dataclasses import asdict
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.errors import NotFound
from core.models import Membership
from core.principal import Principal
from tasks_app.forms import FilterForm
from tasks_app.live.list_feed import ListFeed, query_of
from tasks_app.selectors.task_rows import agents_used, rows_page, status_counts
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.views.counts import count_links, list_url
from tasks_app.views.who import key, workspace_reader


@never_cache
@login_required
@require_safe
def task_list_page(request: HttpRequest) -> HttpResponse:
    """Show one page of tasks, newest first."""
    principal = workspace_reader(request)
    filters = filters_of(request)
    before, after = key(request, "before"), key(request, "after")
    page, newer = rows_page(workspace=principal.workspace, filters=filters, before=before, after=after)
    kept = _kept(request, filters)
    first = before is None and (after is None or not newer)
    context = {
        "rows": page.rows,
        "filters": filters,
        "is_filtered": any(value for name, value in asdict(filters).items() if name != "parent"),
        "previous_url": list_url(kept, after=str(page.rows[0].pk)) if newer and page.rows else "",
        "next_url": list_url(kept, before=str(page.next)) if page.next else "",
        "counts": count_links(status_counts(workspace=principal.workspace), filters, kept),
        "agents": agents_used(workspace=principal.workspace),
        "workspaces": _workspaces(principal),
        "workspace": principal.workspace,
        "here": list_url(kept),
        "live": query_of(principal, filters, page.rows, first=first),
    }
    return render(request, "tasks/list.html", context)


@never_cache
@login_required
@require_safe
def task_list_live(request: HttpRequest) -> HttpResponse:
    """Return what the socket of the same list would send, for networks that block sockets."""
    principal = workspace_reader(request)
    try:
        feed = ListFeed.of(request.META.get("QUERY_STRING", ""), lambda: principal)
    except ValueError:
        raise NotFound from None
    html = "".join(str(message["html"]) for message in feed.read().messages)
    return JsonResponse({"html": html, "head": 0})


def filters_of(request: HttpRequest) -> TaskFilter:
    """Return the filter in the address; a field that does not fit narrows nothing."""
    form = FilterForm(request.GET)
    form.is_valid()
    return TaskFilter(**{name: value for name, value in form.cleaned_data.items() if value})


def _workspaces(principal: Principal) -> list[Any]:
    mine = Membership.objects.filter(user=principal.user).order_by("workspace__name")
    return list(mine.values_list("workspace__slug", "workspace__name").distinct())


def _kept(request: HttpRequest, filters: TaskFilter) -> dict[str, str]:
    kept = {name: str(value) for name, value in asdict(filters).items() if value}
    return kept | ({"workspace": request.GET["workspace"]} if request.GET.get("workspace") else {})
