"""Several at once: calls that are alike and harmless, each listed; or all that one runaway asks for, with a stop."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from approvals_app.forms import GroupForm, ReasonForm
from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.selectors.beside import card_review
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.requests import requests_again
from approvals_app.services.presented import approvals_opened
from approvals_app.services.together import MOST, Done, approvals_decide_together, approvals_deny_group
from approvals_app.status import Answer, ApprovalStatus, Via
from approvals_app.views.stops import attempts_sentence, stop_url
from core.access import Right
from core.errors import HandrailError, InvalidInput, NotFound
from core.places import way_back
from core.principal import Principal, session_principal
from core.words import word


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def together(request: HttpRequest) -> HttpResponse:
    """List the chosen requests, each whole; by POST, answer them and say of each what became of it."""
    rows = _chosen(request, request.POST if request.method == "POST" else request.GET)
    if not rows:
        return _page(request, rows)
    principal = session_principal(request, slug=rows[0].workspace.slug)
    if request.method != "POST":
        return _page(request, rows, principal)
    form = ReasonForm(request.POST)
    if request.POST.get("decision") not in set(Answer) or not form.is_valid():
        return _page(request, rows, principal, problem=InvalidInput("Press Approve or Deny. Nothing was changed."))
    try:
        done = approvals_decide_together(
            principal=principal,
            items=[(row.pk, request.POST.get(f"digest-{row.pk}", "")) for row in rows],
            decision=Answer(request.POST["decision"]),
            reason=form.cleaned_data["reason"],
            via=Via.PAGE,
        )
    except HandrailError as problem:
        return _page(request, rows, principal, problem=problem)
    return _page(request, _again(request, rows), principal, done=done)


@never_cache
@login_required
@require_POST
def deny_group(request: HttpRequest) -> HttpResponse:
    """Deny all of one agent, tool and rule, and stop the agent; leads to the stop, with what may still be sent."""
    form = GroupForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why: the agent and the record need a reason. Nothing was changed.")
        return HttpResponseRedirect(way_back(request), status=303)  # the group, with its form
    given = form.cleaned_data
    principal = session_principal(request, slug=given.pop("workspace"))
    try:
        denied = approvals_deny_group(principal=principal, via=Via.PAGE, **given)
    except HandrailError as problem:
        messages.error(request, problem.detail)
        return HttpResponseRedirect(reverse("approvals"), status=303)
    refused = len(denied.done) - denied.count
    left = f", {refused} not (others were first, or not yours to decide)" if refused else ""
    if denied.stop is None:
        messages.success(request, f"{denied.count} denied{left}.")
        return HttpResponseRedirect(reverse("approvals"), status=303)
    stopped = f"The agent {given['agent']} is stopped until somebody lifts the stop."
    earlier = attempts_sentence(len(denied.stop.attempts))
    messages.success(request, f"{denied.count} denied{left}. {stopped} {earlier}")
    return HttpResponseRedirect(stop_url(denied.stop.switch), status=303)


def _chosen(request: HttpRequest, given: Any) -> list[ApprovalRequest]:
    try:
        ids = list(dict.fromkeys(UUID(one) for one in given.getlist("id")))
    except ValueError:
        raise NotFound from None
    if len(ids) > MOST:
        raise InvalidInput(f"At most {MOST} can be answered together. Nothing was changed.")
    rows = requests_again(workspaces=_workspaces(request), ids=ids)
    if len(rows) != len(ids):
        raise NotFound
    return rows


def _again(request: HttpRequest, rows: list[ApprovalRequest]) -> list[ApprovalRequest]:
    return requests_again(workspaces=_workspaces(request), ids=[row.pk for row in rows])


def _workspaces(request: HttpRequest) -> list[UUID]:
    return workspaces_of(user=session_principal(request).user, right=Right.APPROVALS_READ)


def _page(
    request: HttpRequest,
    rows: list[ApprovalRequest],
    principal: Principal | None = None,
    *,
    problem: HandrailError | None = None,
    done: list[Done] | None = None,
) -> HttpResponse:
    cards = [approval_card(request=row, principal=principal) for row in rows] if principal else []
    told = {one.approval: one for one in done or ()}
    entries: list[dict[str, Any]] = [
        {"card": card, "review": card_review(card), "done": told.get(card.request.pk)} for card in cards
    ]
    if principal and done is None:
        whole = [entry["card"].request.pk for entry in entries if entry["review"].fits_card]
        approvals_opened(approvals=whole, user=principal.user)
    waiting = [row for row in rows if row.status == ApprovalStatus.REQUESTED]
    context = {
        "entries": entries,
        "waiting": len(waiting),
        "unlike": _unlike(rows),
        "careful": _careful(entries),
        "problem": problem,
        "done": done,
        "changed": sum(1 for one in done or () if one.outcome is not None and one.outcome.new),
        "form": ReasonForm(),
    }
    return render(request, "approvals/together.html", context, status=problem.status if problem else 200)


def _unlike(rows: list[ApprovalRequest]) -> str:
    """Say why these cannot be answered together, or an empty text."""
    if len({row.workspace_id for row in rows}) > 1:
        return "They belong to more than one workspace."
    tools = sorted({f"{row.tool} version {row.contract_version}" for row in rows})
    if len(tools) > 1 or len({row.schema_digest for row in rows}) > 1:
        return f"They are not of one tool and version: {', '.join(tools)}."
    return ""


def _careful(entries: list[dict[str, Any]]) -> str:
    """Say why these cannot be approved together, or an empty text; denying needs no such care."""
    rows = [entry["card"].request for entry in entries]
    risks = sorted({row.risk for row in rows} - {"low"})
    if risks:
        return f"Only calls of low risk are approved together; here is {word('risk', risks[0]).text.lower()}."
    if any(row.step_up_within is not None for row in rows):
        return "One of them wants a second factor: approve it on its own card."
    if not all(entry["review"].fits_card for entry in entries):
        return "One of them is larger than a card: read it on its own."
    return ""
