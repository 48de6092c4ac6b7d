"""Saving a filter under a name, and forgetting it: from the list, and back to it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from core.access import Right
from core.errors import InvalidInput
from core.principal import Principal, session_principal
from tasks_app.filter_query import filter_kept, filter_read
from tasks_app.services.saved_views import view_forget, view_save
from tasks_app.views.counts import list_url
from tasks_app.views.listing import list_shown


@never_cache
@login_required
@require_POST
def saved_view_add(request: HttpRequest) -> HttpResponse:
    """Keep the filter that was set under a name."""
    principal = _who(request)
    filters, _ = filter_read(request.POST)
    try:
        view = view_save(principal=principal, name=request.POST.get("name", ""), filters=filters)
    except InvalidInput as refused:
        return list_shown(request, principal, request.POST, refused=refused)
    messages.success(request, f"The view “{view.name}” is kept; only you see it.")
    return _back(principal, request)


@never_cache
@login_required
@require_POST
def saved_view_forget(request: HttpRequest, view: int) -> HttpResponse:
    """Forget a view."""
    principal = _who(request)
    view_forget(principal=principal, view=view)
    return _back(principal, request)


def _who(request: HttpRequest) -> Principal:
    return session_principal(request, slug=request.POST.get("workspace", "")).require(Right.TASKS_READ)


def _back(principal: Principal, request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(list_url(filter_kept(request.POST, principal)), status=303)
