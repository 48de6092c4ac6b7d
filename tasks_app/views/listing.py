"""The list of tasks: filters in the address, counts as filters, pages by key."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.errors import InvalidInput
from core.places import way_back
from core.principal import Principal
from tasks_app.filter_query import filter_kept, filter_query, filter_read
from tasks_app.live.list_feed import ListFeed, query_of
from tasks_app.live.polled import feed_of, polled
from tasks_app.registry import tools
from tasks_app.selectors.task_rows import agents_used, rows_page, status_counts
from tasks_app.services.saved_views import views_of
from tasks_app.views.counts import count_links, list_url, view_links
from tasks_app.views.who import key, workspace_choices, workspace_reader


@never_cache
@login_required
@require_safe
def task_list_page(request: HttpRequest) -> HttpResponse:
    """Show one page of tasks, newest first."""
    return list_shown(request, workspace_reader(request), request.GET)


def list_shown(
    request: HttpRequest, principal: Principal, given: QueryDict, *, refused: InvalidInput | None = None
) -> HttpResponse:
    """Show the tasks that the filter in ``given`` leaves. ``refused``: why this filter was not kept under its name."""
    filters, form = filter_read(given)
    before, after = key(request, "before"), key(request, "after")
    page, newer = rows_page(workspace=principal.workspace, filters=filters, before=before, after=after)
    kept = filter_kept(given, principal)
    views = view_links(views_of(principal=principal), filters, principal.kept)
    first = before is None and (after is None or not newer)
    context = {
        "rows": page.rows,
        "filters": filters,
        "form": form,
        "is_filtered": bool(filter_query(filters)),
        "views": views,
        "is_saved": any(view["is_current"] for view in views),
        "kept": kept,
        "all_url": f"{reverse('tasks-together')}?{urlencode(kept)}",
        "refused": refused,
        "view_name": given.get("name", ""),
        "may_operate": principal.may(Right.TASKS_OPERATE),
        "tool_names": sorted({tool.name for tool in tools()}),
        "previous_url": list_url(kept, after=str(page.rows[0].pk)) if newer and page.rows else "",
        "next_url": list_url(kept, before=str(page.next)) if page.next else "",
        "counts": count_links(status_counts(workspace=principal.workspace), filters, kept),
        "agents": agents_used(workspace=principal.workspace),
        "workspaces": workspace_choices(principal),
        "workspace": principal.workspace,
        "principal": principal,
        "way_back": way_back(request, list_url(kept)),
        "live": query_of(principal, filters, page.rows, first=first, end=page.next or after),
    }
    return render(request, "tasks/list.html", context, status=refused.status if refused else 200)


@never_cache
@login_required
@require_safe
def task_list_live(request: HttpRequest) -> HttpResponse:
    """Return what the socket of the same list would send, for networks that block sockets."""
    principal = workspace_reader(request)
    return polled(feed_of(request, ListFeed.of, principal))
