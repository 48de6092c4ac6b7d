"""The review page: arguments that are larger than a card, in parts; the decision stands at the end of the last."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.forms import DecisionForm
from approvals_app.selectors.beside import card_review
from approvals_app.selectors.card import approval_card
from approvals_app.selectors.requests import approval_find
from approvals_app.services.presented import approval_reviewed
from approvals_app.views.who import card_principal
from core.errors import NotFound


@never_cache
@login_required
@require_safe
def approval_review(request: HttpRequest, approval: UUID) -> HttpResponse:
    """Show one part; the whole is shown, nothing is cut."""
    principal = card_principal(request, approval)
    card = approval_card(request=approval_find(workspace=principal.workspace, approval=approval), principal=principal)
    review = card_review(card)
    parts = [] if review.too_large else review.parts()
    number = _number(request.GET.get("part", "1"), len(parts))
    if number == len(parts):  # the end of it has been before them: they may decide
        approval_reviewed(approval=approval, user=principal.user)
    here = reverse("approval-review", args=[approval])
    context = {
        "card": card,
        "review": review,
        "number": number,
        "count": len(parts),
        "slices": parts[number - 1] if parts else [],
        "previous_url": f"{here}?part={number - 1}" if number > 1 else "",
        "next_url": f"{here}?part={number + 1}" if number < len(parts) else "",
        "form": DecisionForm(auto_id=f"{approval}-%s"),
    }
    return render(request, "approvals/review.html", context)


def _number(given: str, most: int) -> int:
    if not given.isdecimal() or len(given) > 6 or not 1 <= int(given) <= max(1, most):
        raise NotFound
    return int(given)
