"""Workers: problems first, what each holds, and draining one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.access import Right
from core.board import drain
from core.board.fleet import fleet, problems
from core.board.fleet_feed import FleetFeed, fleet_query
from core.board.forms import DrainForm
from core.clock import database_now
from core.errors import HandrailError
from core.places import place_url, way_back
from core.principal import Principal
from tasks_app.live.polled import feed_of, polled
from tasks_app.views.who import workspace_reader


@never_cache
@login_required
@require_safe
def workers_page(request: HttpRequest) -> HttpResponse:
    """Show them."""
    return _page(request, workspace_reader(request))


@never_cache
@login_required
@require_safe
def workers_live(request: HttpRequest) -> JsonResponse:
    """Return what the socket would send, for networks that block sockets."""
    principal = workspace_reader(request)
    return polled(feed_of(request, FleetFeed.of, principal))


@never_cache
@login_required
@require_POST
def worker_drain(request: HttpRequest) -> HttpResponse:
    """Drain one, and lead back; refused, show the page as it is now with the refusal."""
    principal = workspace_reader(request).require(Right.WORKERS_DRAIN)
    form = DrainForm(request.POST)
    if not form.is_valid():
        said = "Nothing was done: choose a worker, and say why."
        return _page(request, principal, form=form, problem=said, status=422)
    try:
        told = drain.worker_drain(principal=principal, **form.cleaned_data)
    except HandrailError as refused:
        return _page(request, principal, form=form, problem=refused.detail, status=refused.status)
    messages.success(request, f"{told.name} was asked to hand over and to end.")
    return HttpResponseRedirect(place_url(principal, "workers"), status=303)


def _page(
    request: HttpRequest, principal: Principal, *, form: DrainForm | None = None, problem: str = "", status: int = 200
) -> HttpResponse:
    members = fleet(workspace=principal.workspace, now=database_now())
    context: dict[str, Any] = {
        "members": members,
        "problems": list(problems(members, workspace=principal.workspace)),
        "problem": problem,
        "given": form.data if form else {},  # what was typed stays, also where it was refused
        "may_drain": principal.may(Right.WORKERS_DRAIN),
        "drainable": [one for one in members if one.state == "alive" and not one.is_sweeper],
        "principal": principal,
        "way_back": way_back(request, place_url(principal, "workers")),
        "live": fleet_query(principal, members),
    }
    return render(request, "board/workers.html", context, status=status)
