"""The deliveries of a workspace: what was sent, what waits, what was given up and may be sent again."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Delivery
from approvals_app.notify.selectors.deliveries import channels_of, deliveries, delivery_counts
from approvals_app.notify.services.replay import CannotReplay, delivery_replay
from approvals_app.rights import rights_anywhere
from core.access import Right
from core.errors import NotFound
from core.places import place_url
from core.principal import Principal, session_principal
from tasks_app.views.who import workspace_choices, workspace_reader

LABELS = {
    None: "All",
    DeliveryState.WAITING: "Waiting",
    DeliveryState.SENT: "Sent",
    DeliveryState.DEAD: "Given up",
    DeliveryState.QUIET: "Not needed",
}


@never_cache
@login_required
@require_safe
def deliveries_page(request: HttpRequest) -> HttpResponse:
    """Show the deliveries."""
    principal = workspace_reader(request)
    state = _state(request.GET.get("state", ""))
    page = deliveries(
        workspace=principal.workspace, state=state, before=_key(request, "before"), after=_key(request, "after")
    )
    counts = delivery_counts(workspace=principal.workspace)
    context: dict[str, Any] = {
        "workspace": principal.workspace,
        "workspaces": workspace_choices(principal),
        "principal": principal,
        "rows": page.rows,
        "tabs": [_tab(principal, one, counts, state) for one in LABELS],
        "state": state,
        "previous_url": _url(principal, state, after=page.newer) if page.newer else None,
        "next_url": _url(principal, state, before=page.older) if page.older else None,
        "may_administer": Right.ADMINISTER in rights_anywhere(user=principal.user),
        "may_replay": principal.may(Right.TASKS_OPERATE),
        "channels": channels_of(workspace=principal.workspace),
    }
    return render(request, "alerts/deliveries.html", context)


@login_required
@require_POST
def delivery_again(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Send one once more."""
    slug = Delivery.objects.filter(pk=delivery).values_list("workspace__slug", flat=True).first()
    if slug is None:
        raise NotFound
    principal = session_principal(request, slug=slug)
    try:
        delivery_replay(delivery=delivery, principal=principal)
    except CannotReplay as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, "It is on its way again, under the same id: whoever has it already drops it.")
    return redirect(_url(principal, _state(request.POST.get("state", ""))))


def _tab(
    principal: Principal, one: DeliveryState | None, counts: dict[str, int], here: DeliveryState | None
) -> dict[str, Any]:
    count = counts.get(one, 0) if one else sum(counts.values())
    return {"url": _url(principal, one), "label": LABELS[one], "count": count, "is_current": one == here}


def _url(principal: Principal, state: DeliveryState | None, **keys: UUID) -> str:
    query = {"state": state.value} if state else {}
    return place_url(principal, "deliveries", **query, **{name: str(key) for name, key in keys.items()})


def _state(given: str) -> DeliveryState | None:
    try:
        return DeliveryState(given) if given else None
    except ValueError:
        raise NotFound from None


def _key(request: HttpRequest, name: str) -> UUID | None:
    try:
        return UUID(request.GET[name]) if name in request.GET else None
    except ValueError:
        raise NotFound from None
