"""Searching from the bar of every page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.board.search import MOST, address_of, search
from tasks_app.views.who import workspace_choices, workspace_reader

LONGEST = 200


@never_cache
@login_required
@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """Show what fits, by kind; a whole id leads to its page at once."""
    principal = workspace_reader(request)
    text = request.GET.get("q", "").strip()[:LONGEST]
    if text and (address := address_of(user=principal.user, text=text)):
        return HttpResponseRedirect(address)
    found = search(principal=principal, text=text) if text else None
    context = {
        "text": text,
        "found": found,
        "most": MOST,
        "workspace": principal.workspace,
        "workspaces": workspace_choices(principal),
        "principal": principal,
    }
    return render(request, "board/search.html", context)
