"""What a page's socket would send first, as one HTTP answer: for networks that block sockets."""

from collections.abc import Callable

from django.http import HttpRequest, JsonResponse

from core.errors import NotFound
from tasks_app.live.message import Message
from tasks_app.live.parts import PartsFeed


def feed_of[Feed, Who](request: HttpRequest, of: Callable[[str, Callable[[], Who]], Feed], who: Who) -> Feed:
    """Return the feed of the page whose query the address has. Raises NotFound for a query that no page made."""
    try:
        return of(request.META.get("QUERY_STRING", ""), lambda: who)
    except ValueError:
        raise NotFound from None


def polled[Who](feed: PartsFeed[Who], *, frame: str = "", **more: int) -> JsonResponse:
    """Answer with the parts as they are now. ``frame``: what the page shows around them; ``more``: other fields."""
    return JsonResponse({"html": html_of(feed.read().messages) + frame, "head": 0, **more})


def html_of(messages: list[Message]) -> str:
    """Return the fragments of all messages together; some have none."""
    return "".join(str(message.get("html", "")) for message in messages)
