"""The alerts of a person's workspaces: what stands, and what was over last."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.notify.live import AlertsFeed, alerts_html, alerts_query
from approvals_app.notify.selectors.alerts import alerts_cleared, alerts_count, alerts_open
from approvals_app.rights import rights_anywhere
from core.access import Right
from core.principal import session_principal
from tasks_app.live.polled import feed_of, polled


@never_cache
@login_required
@require_safe
def alerts(request: HttpRequest) -> HttpResponse:
    """Show the alerts."""
    user = session_principal(request).user
    standing = alerts_open(user=user)
    context = {
        "alerts": standing,
        "cleared": alerts_cleared(user=user),
        "live": alerts_query(list(standing.rows)),
        "may_administer": Right.ADMINISTER in rights_anywhere(user=user),
    }
    return render(request, "alerts/list.html", context)


@never_cache
@login_required
@require_safe
def alerts_live(request: HttpRequest) -> JsonResponse:
    """Answer with what the socket of the same page would send, for networks that block sockets."""
    user = session_principal(request).user
    feed = feed_of(request, AlertsFeed.of, user)
    return polled(feed, frame=alerts_html(alerts_count(user=user)))
