"""The approval pages: parse, call one service or selector, render. A GET never decides (rule 11)."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals_app.forms import DecisionForm, ReasonForm
from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.requests import Shelf, approval_find, approvals_counts, approvals_page
from approvals_app.services.decide import approval_decide
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, Via
from approvals_app.words import decided_sentence
from core.access import Right
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound
from core.principal import Principal, session_principal

_SHELVES = {Shelf.WAITING: "Waiting", Shelf.DECIDED: "Decided", Shelf.ENDED: "Expired and withdrawn"}


@never_cache
@login_required
@require_safe
def approval_list(request: HttpRequest) -> HttpResponse:
    """List the requests of all workspaces that the person may see, by shelf: the badge counts over the same."""
    user = session_principal(request).user
    workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
    shelf = _shelf(request)
    page = approvals_page(workspaces=workspaces, shelf=shelf, after=_after(request))
    counts = approvals_counts(workspaces=workspaces)
    tabs = [
        {"url": f"?shelf={one}", "label": label, "count": counts[one], "is_current": one == shelf}
        for one, label in _SHELVES.items()
    ]
    following = f"?shelf={shelf}&after={page.after}" if page.after else ""
    context = {"tabs": tabs, "shelf": shelf, "rows": page.rows, "next_url": following, "many": len(workspaces) > 1}
    return render(request, "approvals/list.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def approval_page(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Show a card; by POST, decide it and show what became of it."""
    principal = _principal(request, approval)
    if request.method != "POST":
        return _card(request, principal, approval)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        problem = InvalidInput("The form is incomplete: press Approve or Deny on the card itself. Nothing was changed.")
        return _card(request, principal, approval, problem=problem)
    given = form.cleaned_data

    def decide() -> str:
        decision = Answer(given["decision"])
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


def _with_reason(
    request: HttpRequest, approval: UUID, service: Callable[..., ApprovalRequest], done: str
) -> HttpResponse:
    principal = _principal(request, approval)
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
    return HttpResponseRedirect(reverse("approval", args=[approval]), status=303)


def _principal(request: HttpRequest, approval: UUID) -> Principal:
    """Return the person in the workspace of the approval. Raises NotFound where they have no business (case-25)."""
    slug = ApprovalRequest.objects.filter(pk=approval).values_list("workspace__slug", flat=True).first()
    if slug is None:
        raise NotFound
    principal = session_principal(request, slug=slug)
    if not principal.may(Right.APPROVALS_READ):
        raise NotFound
    return principal


def _card(
    request: HttpRequest, principal: Principal, approval: UUID, *, problem: HandrailError | None = None
) -> HttpResponse:
    found = approval_find(workspace=principal.workspace, approval=approval)
    card = approval_card(request=found, principal=principal)
    template = "approvals/_card.html" if request.headers.get("HX-Request") else "approvals/card.html"
    context = {"card": card, "problem": problem, "form": DecisionForm(), "reason_form": ReasonForm()}
    return render(request, template, context, status=problem.status if problem else 200)


def _shelf(request: HttpRequest) -> Shelf:
    try:
        return Shelf(request.GET.get("shelf", Shelf.WAITING))
    except ValueError:
        raise NotFound from None


def _after(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.GET["after"]) if "after" in request.GET else None
    except ValueError:
        raise NotFound from None
