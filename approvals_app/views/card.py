"""The card of one request: parse, call one service or selector, render."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from approvals_app.errors import StepUpRequired
from approvals_app.forms import DecisionForm, ReasonForm
from approvals_app.live.card_feed import card_state, state_context
from approvals_app.live.looking import others_now, sentence
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.beside import last_steps, proposal, similar_call
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.desk import neighbours
from approvals_app.selectors.requests import approval_find
from approvals_app.services.decide import Outcome, approval_decide
from approvals_app.services.presented import approval_opened
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, Via
from approvals_app.views.who import card_principal, narrowed, tab_of
from approvals_app.words import decided_sentence
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput
from core.places import way_back
from core.principal import Principal
from tasks_app.registry import tool_find


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def approval_page(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Show a card; by POST, decide it and show what became of it."""
    principal = card_principal(request, approval)
    if request.method != "POST":
        return _card(request, principal, approval)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        problem = InvalidInput("The form is incomplete: press Approve or Deny on the card itself. Nothing was changed.")
        return _card(request, principal, approval, problem=problem)
    given = form.cleaned_data

    def decide() -> str:
        outcome = approval_decide(
            approval=approval,
            principal=principal,
            decision=Answer(given["decision"]),
            reason=given["reason"],
            digest=given["digest"],
            via=Via.PAGE,
        )
        return _said(outcome, Answer(given["decision"]))

    return _done(request, principal, approval, decide)


@never_cache
@login_required
@require_POST
def approval_take_back(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Take an unused approval back."""
    return _with_reason(request, approval, approval_revoke, "You took the approval back: the call will not run.")


@never_cache
@login_required
@require_POST
def approval_ask_again(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Let a denied call be asked again."""
    return _with_reason(request, approval, approval_reopen, "The agent may ask for this call again.")


def card_context(principal: Principal, approval: UUID) -> dict[str, Any]:
    """Return what the templates of a card need."""
    found = approval_find(workspace=principal.workspace, approval=approval)
    state = card_state(found, principal)
    card = approval_card(request=found, principal=principal)
    contract = tool_find(found.tool, found.contract_version)
    return {
        "request_row": found,
        "reversible": contract.reversible if contract else None,
        "task": found.task,
        "similar": similar_call(card),
        "proposal": proposal(card),
        "steps": last_steps(task=found.task),
        "form": DecisionForm(auto_id=f"{approval}-%s"),
        "looking": sentence(others_now(approval=approval, user=principal.user)),
        **state_context(card, principal, state),
    }


def _said(outcome: Outcome, decision: Answer) -> str:
    """Say what became of an answer."""
    if outcome.decided:
        return f"You {decision} this call." if outcome.new else decided_sentence(outcome.request)
    needed = outcome.request.quorum
    return f"Your approval counts. {needed} are needed: the call runs once the others have approved it too."


def _with_reason(
    request: HttpRequest, approval: UUID, service: Callable[..., ApprovalRequest], done: str
) -> HttpResponse:
    principal = card_principal(request, approval)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _card(request, principal, approval, problem=InvalidInput(" ".join(map(str, form.errors["reason"]))))
    reason = form.cleaned_data["reason"]

    def act() -> str:
        service(approval=approval, principal=principal, reason=reason)
        return done

    return _done(request, principal, approval, act)


def _done(request: HttpRequest, principal: Principal, approval: UUID, act: Callable[[], str]) -> HttpResponse:
    """Act, and lead back to the card; refused, show the fresh card with the refusal and its status."""
    try:
        said = act()
    except StepUpRequired as problem:
        return _step_up(request, approval) or _card(request, principal, approval, problem=problem)
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _card(request, principal, approval, problem=problem)
    messages.success(request, said)
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return HttpResponseRedirect(reverse("approval", args=[approval]) + query, status=303)


def _step_up(request: HttpRequest, approval: UUID) -> HttpResponse | None:
    """Lead to where a second factor is shown, and back to the card; None where there is no such page."""
    try:
        url = reverse("step-up")
    except NoReverseMatch:
        return None
    messages.warning(request, "Show your second factor first; nothing was decided yet.")
    return HttpResponseRedirect(f"{url}?{urlencode({'next': reverse('approval', args=[approval])})}", status=303)


def _card(
    request: HttpRequest, principal: Principal, approval: UUID, *, problem: HandrailError | None = None
) -> HttpResponse:
    approval_opened(approval=approval, user=principal.user)
    context = card_context(principal, approval) | {"problem": problem}
    if problem is not None:  # what was typed is kept
        context["form"] = DecisionForm(auto_id=f"{approval}-%s", initial={"reason": request.POST.get("reason", "")})
    if request.headers.get("HX-Request") or "preview" in request.GET:
        context["preview"] = "preview" in request.GET
        return render(request, "approvals/_card.html", context, status=problem.status if problem else 200)
    tab, kind = tab_of(request.GET.dict()), narrowed(request)
    query = f"?shelf={tab.value}" + (f"&{kind.query}" if kind else "")
    previous, following = neighbours(user=principal.user, tab=tab, kind=kind, request=context["request_row"])
    back = way_back(request, reverse("approval", args=[approval]) + query)
    context |= {"previous": previous, "following": following, "query": query, "way_back": back}
    return render(request, "approvals/card.html", context, status=problem.status if problem else 200)
