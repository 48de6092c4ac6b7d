"""The landing page: is anything waiting on me, broken or stuck?"""

from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.board.live import OverviewFeed
from core.board.overview import overview
from core.models import Membership
from tasks_app.live.polled import polled
from tasks_app.views.who import workspace_choices, workspace_reader


@never_cache
@login_required
@require_safe
def overview_page(request: HttpRequest) -> HttpResponse:
    """Show it for one workspace; without any, say how one comes by one."""
    if not Membership.objects.filter(user=cast(User, request.user)).exists():
        return render(request, "board/nobody.html")
    principal = workspace_reader(request)
    shown: dict[str, Any] = overview(principal=principal).context()
    context = {
        **shown,
        "principal": principal,
        "workspace": principal.workspace,
        "workspaces": workspace_choices(principal),
        "is_demo": settings.HANDRAIL_DEMO,
        "may_drill": principal.may(Right.DRILLS_RUN),
        "live": urlencode({"workspace": principal.workspace.slug}),
    }
    return render(request, "board/overview.html", context)


@never_cache
@login_required
@require_safe
def overview_live(request: HttpRequest) -> JsonResponse:
    """Return what the socket would send, for networks that block sockets."""
    principal = workspace_reader(request)
    return polled(OverviewFeed(who=lambda: principal))
