"""The alerts of a person's workspaces: what stands, and what was over last."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.notify.selectors.alerts import alerts_cleared, alerts_open
from core.principal import session_principal


@never_cache
@login_required
@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """Show the alerts."""
    user = session_principal(request).user
    return render(request, "alerts/list.html", {"alerts": alerts_open(user=user), "cleared": alerts_cleared(user=user)})
