"""Credentials: which there are, which calls were granted one, and taking one back. Values are shown nowhere."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.access import Right
from core.board.forms import RevokeForm
from core.clock import database_now
from core.errors import HandrailError
from core.places import place_url, way_back
from core.principal import Principal
from tasks_app.selectors.credentials import credential_grants, credentials_seen, grant_state
from tasks_app.services.credentials import credential_revoke
from tasks_app.views.who import workspace_reader


@never_cache
@login_required
@require_safe
def credentials_page(request: HttpRequest) -> HttpResponse:
    """Show them; with ``name``, the newest grants of one."""
    return _page(request, workspace_reader(request).require(Right.AUDIT_READ))


@never_cache
@login_required
@require_POST
def credential_take_back(request: HttpRequest) -> HttpResponse:
    """Revoke one, and lead back; refused, show the page as it is now with the refusal."""
    principal = workspace_reader(request).require(Right.ADMINISTER)
    form = RevokeForm(request.POST)
    if not form.is_valid():
        said = "Nothing was done: choose a credential, and say why."
        return _page(request, principal, form=form, problem=said, status=422)
    name = form.cleaned_data["name"]
    try:
        count = credential_revoke(workspace=principal.workspace, actor=principal.actor, **form.cleaned_data)
    except HandrailError as refused:
        return _page(request, principal, form=form, problem=refused.detail, status=refused.status)
    messages.success(request, f"{name} is revoked; {count} open grant{'' if count == 1 else 's'} taken back.")
    return HttpResponseRedirect(f"{reverse('credentials')}?workspace={principal.workspace.slug}", status=303)


def _page(
    request: HttpRequest, principal: Principal, *, form: RevokeForm | None = None, problem: str = "", status: int = 200
) -> HttpResponse:
    now, name = database_now(), request.GET.get("name", "")
    given = form.data if form else {"name": name}  # what was typed stays, also where it was refused
    credentials = credentials_seen(workspace=principal.workspace)
    grants = credential_grants(workspace=principal.workspace, name=name) if name else []
    context: dict[str, Any] = {
        "credentials": credentials,
        "name": name,
        "grants": [(grant, grant_state(grant, now)) for grant in grants],
        "problem": problem,
        "given": given,
        "revocable": [one for one in credentials if not one.revoked_at],
        "may_revoke": principal.may(Right.ADMINISTER),
        "principal": principal,
        "way_back": way_back(request, place_url(principal, "credentials")),
        "workspace": principal.workspace,
    }
    return render(request, "board/credentials.html", context, status=status)
