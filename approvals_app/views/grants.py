"""Standing grants: listed, given from a card, revoked (rule 13)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals_app.forms import GrantForm
from approvals_app.models import StandingGrant
from approvals_app.rights import workspaces_of
from approvals_app.selectors.beside import card_review
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.grants import grants_of
from approvals_app.selectors.requests import approval_find
from approvals_app.services.grants import grant_create, grant_refusal, grant_revoke
from approvals_app.views.who import card_principal
from core.access import Right
from core.clock import database_now
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound
from core.principal import Principal, session_principal
from tasks_app.call_arguments import arguments_shown


@never_cache
@login_required
@require_safe
def grants(request: HttpRequest) -> HttpResponse:
    """List the grants of the reader's workspaces: those that hold, then those that are over."""
    user = session_principal(request).user
    now = database_now()
    rows = grants_of(workspaces=workspaces_of(user=user, right=Right.APPROVALS_READ))
    told = [{"grant": row, "over": grant_refusal(row, now), "arguments": _arguments(row)} for row in rows]
    mine = set(workspaces_of(user=user, right=Right.APPROVALS_DECIDE))
    told.sort(key=lambda one: bool(one["over"]))
    return render(request, "approvals/grants.html", {"grants": told, "deciding": mine})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def grant_give(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Show what would be granted; by POST, grant it."""
    principal = card_principal(request, approval)
    form = GrantForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, principal, approval, form, status=422 if request.method == "POST" else 200)
    given = form.cleaned_data
    try:
        grant_create(
            approval=approval,
            principal=principal,
            ends_at=database_now() + timedelta(hours=given["hours"]),
            most_uses=given["uses"],
            reason=given["reason"],
        )
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _page(request, principal, approval, form, problem=problem)
    messages.success(request, "Granted. Calls exactly like this one run without asking until it ends or is revoked.")
    return HttpResponseRedirect(reverse("approvals-grants"), status=303)


@never_cache
@login_required
@require_POST
def grant_end(request: HttpRequest, grant: UUID) -> HttpResponse:
    """Revoke a grant."""
    slug = StandingGrant.objects.filter(pk=grant).values_list("workspace__slug", flat=True).first()
    if slug is None:
        raise NotFound
    principal = session_principal(request, slug=slug)
    try:
        grant_revoke(grant=grant, principal=principal, reason=request.POST.get("reason", ""))
    except (Conflict, Forbidden, InvalidInput) as problem:
        messages.error(request, problem.detail)
    else:
        messages.success(request, "Revoked: such calls ask again from now on.")
    return HttpResponseRedirect(reverse("approvals-grants"), status=303)


def _arguments(row: StandingGrant) -> dict[str, Any]:
    return arguments_shown(tool=row.tool, version=row.contract_version, arguments=row.arguments)


def _page(
    request: HttpRequest,
    principal: Principal,
    approval: UUID,
    form: GrantForm,
    *,
    problem: HandrailError | None = None,
    status: int = 200,
) -> HttpResponse:
    card = approval_card(request=approval_find(workspace=principal.workspace, approval=approval), principal=principal)
    context = {"card": card, "review": card_review(card), "form": form, "problem": problem}
    return render(request, "approvals/grant.html", context, status=problem.status if problem else status)
