"""The rules that hold, in the order in which they are asked, and a box to try a call on them. Nothing runs here."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.forms import TrialForm
from approvals_app.rights import workspaces_of
from approvals_app.selectors.policy import Trial, policy_try, rules_of
from core.access import Right
from core.errors import HandrailError
from core.principal import Principal, session_principal
from tasks_app.registry import tools


@never_cache
@login_required
@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Show the rules; with a call in the address, also what they would say of it."""
    principal = session_principal(request, slug=request.GET.get("workspace", ""))
    principal.require(Right.APPROVALS_READ)
    asked = "tool" in request.GET
    form = TrialForm(request.GET) if asked else TrialForm()
    names = sorted({tool.name for tool in tools()})
    form.fields["tool"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
    trial, problem = _tried(principal, form) if asked and form.is_valid() else (None, "")
    workspaces = workspaces_of(user=principal.user, right=Right.APPROVALS_READ)
    context: dict[str, Any] = {
        "rules": rules_of(workspaces=workspaces),
        "many": len(workspaces) > 1,
        "workspace": principal.workspace,
        "principal": principal,
        "form": form,
        "has_tools": bool(names),
        "trial": trial,
        "problem": problem,
        "may_edit": principal.may(Right.ADMINISTER),
    }
    return render(request, "approvals/rules.html", context)


def _tried(principal: Principal, form: TrialForm) -> tuple[Trial | None, str]:
    given = form.cleaned_data
    try:
        trial = policy_try(
            workspace=principal.workspace,
            tool=given["tool"],
            arguments=given["arguments"],
            agent=given["agent"],
            labels=given["labels"] or {},
        )
    except HandrailError as refused:
        return None, refused.detail
    return trial, ""
