"""What a task's socket would send, over HTTP: for networks that block sockets."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.errors import Forbidden, NotFound
from tasks_app.live.polled import html_of
from tasks_app.live.task_feed import TaskFeed
from tasks_app.views.who import number, task_reader

AT_ONCE = 300  # events of one answer


@never_cache
@login_required
@require_safe
def task_live(request: HttpRequest, task: UUID) -> JsonResponse:
    """Answer with the message after the cursor ``after``, and the head."""
    try:
        principal, row = task_reader(request, task)
    except NotFound:  # the page knows 403 as "not any more"; unknown and forbidden are one answer here too
        raise Forbidden from None
    timeline = request.GET.get("timeline") == "1"
    feed = TaskFeed(task=row.pk, who=lambda: principal, timeline=timeline, csrf_token=get_token(request))
    reading = feed.read(number(request, "after") or 0, most=AT_ONCE)
    messages = [*reading.messages, *([] if reading.more else feed.rest())]
    html, answer = html_of(messages), messages[0] if messages else {}
    return JsonResponse(answer | ({"html": html} if html else {}) | {"head": reading.head})
