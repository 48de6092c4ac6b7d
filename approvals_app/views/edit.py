"""Editing a proposal: a form made from the tool's schema; what is sent is a new call, for somebody else to answer."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from approvals_app.deciders import editor_refusal
from approvals_app.edit_form import PREFIX, EditForm, EditReasonForm, edit_form, initial_of
from approvals_app.selectors.card import Card, approval_card
from approvals_app.selectors.deciders import deciders_now, deciders_of_edit, deciders_sentence
from approvals_app.selectors.requests import approval_find
from approvals_app.services.edit import approval_edit
from approvals_app.status import Via
from approvals_app.views.who import card_principal
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound
from core.principal import Principal
from tasks_app.contracts import Contract
from tasks_app.form_fields import NEST
from tasks_app.registry import tool_find


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def approval_edit_page(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Show the form; by POST, put the edited call in the place of the proposal and lead to its card."""
    principal = card_principal(request, approval)
    found = approval_find(workspace=principal.workspace, approval=approval)
    contract = tool_find(found.tool, found.contract_version)
    if contract is None or not contract.editable:
        raise NotFound("Nothing about this call may be edited: its tool lists no field for it.")
    card = approval_card(request=found, principal=principal)
    start = initial_of(contract, card.arguments)
    if request.method != "POST":
        reason = EditReasonForm(initial={"digest": found.digest})
        return _page(request, card, contract, principal, edit_form(contract)(initial=start, prefix=PREFIX), reason)
    form, reason = edit_form(contract)(request.POST, initial=start, prefix=PREFIX), EditReasonForm(request.POST)
    if not (form.is_valid() and reason.is_valid()):
        return _page(request, card, contract, principal, form, reason, status=422)
    return _edited(request, card, contract, principal, form, reason)


def _edited(
    request: HttpRequest,
    card: Card,
    contract: Contract,
    principal: Principal,
    form: EditForm,
    reason: EditReasonForm,
) -> HttpResponse:
    try:
        new = approval_edit(
            approval=card.request.pk,
            principal=principal,
            arguments=form.changed(),
            reason=reason.cleaned_data["reason"],
            digest=reason.cleaned_data["digest"],
            via=Via.PAGE,
        )
    except InvalidInput as refused:
        form.take(refused)
        return _page(request, card, contract, principal, form, reason, status=refused.status)
    except (Conflict, Forbidden) as problem:
        return _page(request, card, contract, principal, form, reason, problem=problem)
    found = deciders_now(new)
    say = messages.success if found.suffice else messages.warning
    said = f"Your edit is a new call, and the old one is withdrawn. {deciders_sentence(found, new)}"
    say(request, said)
    return HttpResponseRedirect(reverse("approval", args=[new.pk]), status=303)


def _page(
    request: HttpRequest,
    card: Card,
    contract: Contract,
    principal: Principal,
    form: EditForm,
    reason: EditReasonForm,
    *,
    problem: HandrailError | None = None,
    status: int = 200,
) -> HttpResponse:
    edited = {name.split(NEST)[0] for name in form.fields}
    kept = {name: value for name, value in card.arguments.items() if name not in edited}
    deciders = deciders_of_edit(card.request, editor=principal.user.get_username())
    context = {
        "card": card,
        "form": form,
        "reason_form": reason,
        "kept": kept,
        "problem": problem,
        "refusal": editor_refusal(request=card.request, principal=principal),
        "deciders": deciders,
        "who_decides": deciders_sentence(deciders, card.request),
        "contract": contract,
    }
    return render(request, "approvals/edit.html", context, status=problem.status if problem else status)
