"""Stop switches: which stand and what was attempted before them; setting one, lifting one (rule 14)."""

from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals_app.forms import LiftForm, StopForm
from approvals_app.live.stops_feed import StopsFeed, stops_query
from approvals_app.live.waiting import waiting_html
from approvals_app.rights import workspaces_of
from approvals_app.selectors.standing import standing_stops
from approvals_app.selectors.waiting import approvals_waiting_count
from core.access import Right
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound
from core.models import Workspace
from core.places import way_back
from core.principal import session_principal
from tasks_app.live.polled import feed_of, polled
from tasks_app.models import StopSwitch
from tasks_app.services.stops import stop_lift, stop_set


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def stops(request: HttpRequest) -> HttpResponse:
    """List the stops that stand in the reader's workspaces; by POST, set one."""
    form = _form(request)
    if request.method != "POST":
        return _page(request, form)
    session_principal(request, slug=request.POST.get("workspace", "")).require(Right.STOPS_SET)
    if not form.is_valid():
        return _page(request, form, problem=InvalidInput("Nothing was stopped: look at the form."))
    given = form.cleaned_data
    principal = session_principal(request, slug=given.pop("workspace"))
    try:
        stop = stop_set(workspace=principal.workspace, user=principal.user, actor=principal.actor, **given)
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _page(request, form, problem=problem)
    messages.success(request, f"Stopped: {stop.switch.covers}. {attempts_sentence(len(stop.attempts))}")
    return HttpResponseRedirect(stop_url(stop.switch), status=303)


@never_cache
@login_required
@require_POST
def stop_end(request: HttpRequest, stop: int) -> HttpResponse:
    """Lift a stop; one over everything is said in the workspace that the reader is in."""
    switch = StopSwitch.objects.select_related("workspace").filter(pk=stop).first()
    try:
        if switch is None:
            raise NotFound
        principal = session_principal(request, slug=switch.workspace.slug if switch.workspace else "")
    except NotFound:  # one answer for a stop that is lifted, one that never was, and one of other people's
        return _page(request, _form(request, bound=False), problem=Conflict("This stop does not stand any more."))
    principal.require(Right.STOPS_SET)
    form = LiftForm(request.POST)
    if not form.is_valid():
        problem: HandrailError = InvalidInput("Say why it is lifted, for the record. Nothing was changed.")
        return _page(request, _form(request, bound=False), problem=problem)
    reason = form.cleaned_data["reason"]
    try:
        stop_lift(workspace=principal.workspace, stop=stop, reason=reason, user=principal.user, actor=principal.actor)
    except (Conflict, Forbidden, InvalidInput, NotFound) as problem:
        return _page(request, _form(request, bound=False), problem=problem)
    messages.success(request, f"Lifted, it was over {switch.covers}. What it held goes on by itself.")
    return HttpResponseRedirect(reverse("approvals-stops"), status=303)


@never_cache
@login_required
@require_safe
def stops_live(request: HttpRequest) -> JsonResponse:
    """Answer with what the socket of the page would send, for networks that block sockets."""
    user = session_principal(request).user
    feed = feed_of(request, partial(StopsFeed.of, csrf_token=get_token(request)), user)
    count = approvals_waiting_count(user=user)
    return polled(feed, frame=waiting_html(count), waiting=count)


def stop_url(switch: StopSwitch) -> str:
    """Return where a stop is shown."""
    return f"{reverse('approvals-stops')}#stop-{switch.pk}"


def attempts_sentence(count: int) -> str:
    """Say how many attempts were committed before a stop and are not over."""
    if not count:
        return "No earlier attempt is without an outcome."
    said = "One earlier attempt has" if count == 1 else f"{count} earlier attempts have"
    return f"{said} no outcome yet and may still send: see below."


def _form(request: HttpRequest, *, bound: bool = True) -> StopForm:
    user = session_principal(request).user
    mine = workspaces_of(user=user, right=Right.STOPS_SET)
    choices = list(Workspace.objects.filter(pk__in=mine).order_by("name").values_list("slug", "name"))
    given = request.POST if bound and request.method == "POST" else None
    return StopForm(given, workspaces=choices, everything=user.is_superuser)


def _page(request: HttpRequest, form: StopForm, *, problem: HandrailError | None = None) -> HttpResponse:
    user = session_principal(request).user
    standing = standing_stops(user=user)
    context = {
        "stops": standing,
        "form": form if workspaces_of(user=user, right=Right.STOPS_SET) else None,
        "many": len(workspaces_of(user=user, right=Right.APPROVALS_READ)) > 1,
        "problem": problem,
        "way_back": way_back(request, reverse("approvals-stops")),
        "live": stops_query(standing),
    }
    return render(request, "approvals/stops.html", context, status=problem.status if problem else 200)
