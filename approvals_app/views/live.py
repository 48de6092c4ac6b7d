"""What a card's socket would send, over HTTP: for networks that block sockets."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.live.card_feed import CardFeed
from approvals_app.live.looking import looking_html, others_now
from approvals_app.live.waiting import waiting_html
from approvals_app.selectors.waiting import approvals_waiting_count
from approvals_app.views.who import card_principal
from core.errors import Forbidden, NotFound
from tasks_app.live.polled import polled


@never_cache
@login_required
@require_safe
def approval_live(request: HttpRequest, approval: UUID) -> JsonResponse:
    """Answer with the parts of the card that change, and the badge."""
    try:
        principal = card_principal(request, approval)
    except NotFound:  # the page knows 403 as "not any more"; unknown and forbidden are one answer here too
        raise Forbidden from None
    feed = CardFeed(approval=approval, who=lambda: principal, csrf_token=get_token(request))
    count = approvals_waiting_count(user=principal.user)
    looking = looking_html(approval, others_now(approval=approval, user=principal.user))
    return polled(feed, frame=waiting_html(count) + looking, waiting=count)
