"""The card of one request: parse, call one service or selector, render."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from approvals_app.forms import DecisionForm, ReasonForm
from approvals_app.models import ApprovalRequest
from approvals_app.review import Review
from approvals_app.selectors.beside import last_steps, similar_call, successor
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.desk import neighbours
from approvals_app.selectors.requests import approval_find
from approvals_app.services.decide import approval_decide
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, Via
from approvals_app.views.who import card_principal, narrowed, tab_of
from approvals_app.words import decided_sentence
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput
from core.principal import Principal


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
        decision = Answer(given["decision"])
        if decision == Answer.APPROVED:
            _read_whole(principal, approval, given["reviewed"])
        outcome = approval_decide(
            approval=approval,
            principal=principal,
            decision=decision,
            reason=given["reason"],
            digest=given["digest"],
            via=Via.PAGE,
        )
        return f"You {decision} this call." if outcome.new else decided_sentence(outcome.request)

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
    card = approval_card(request=found, principal=principal)
    return {
        "card": card,
        "request_row": found,
        "task": found.task,
        "review": Review.of(card.arguments),
        "similar": similar_call(card),
        "steps": last_steps(task=found.task),
        "successor": None if card.waits else successor(found),
        "form": DecisionForm(auto_id=f"{approval}-%s"),
        "reason_form": ReasonForm(auto_id=f"{approval}-after-%s"),
    }


def _read_whole(principal: Principal, approval: UUID, reviewed: str) -> None:
    """Refuse an approval of what the card could not show whole, unless it comes from the end of the review page."""
    found = approval_find(workspace=principal.workspace, approval=approval)
    review = Review.of(approval_card(request=found, principal=principal).arguments)
    if review.too_large:
        raise InvalidInput(
            f"These arguments have {review.characters:,} characters: too large to review, so they cannot be approved."
            " Deny the call, and let the agent propose it in smaller parts. Nothing was changed."
        )
    if not review.fits_card and reviewed != found.digest:
        raise InvalidInput(
            "These arguments are larger than the card: read all of them on the review page, and decide at its end."
            " Nothing was changed."
        )


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
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _card(request, principal, approval, problem=problem)
    messages.success(request, said)
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return HttpResponseRedirect(reverse("approval", args=[approval]) + query, status=303)


def _card(
    request: HttpRequest, principal: Principal, approval: UUID, *, problem: HandrailError | None = None
) -> HttpResponse:
    context = card_context(principal, approval) | {"problem": problem, "typed": request.POST.get("reason", "")}
    if request.headers.get("HX-Request") or "preview" in request.GET:
        context["preview"] = "preview" in request.GET
        return render(request, "approvals/_card.html", context, status=problem.status if problem else 200)
    tab, kind = tab_of(request.GET.dict()), narrowed(request)
    query = f"?shelf={tab.value}" + (f"&{kind.query}" if kind else "")
    previous, following = neighbours(user=principal.user, tab=tab, kind=kind, request=context["request_row"])
    context |= {"previous": previous, "following": following, "query": query}
    return render(request, "approvals/card.html", context, status=problem.status if problem else 200)
