"""The overview, live: its parts as they are now. It is read less often than hints come."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from django.template.loader import render_to_string

from core.board.overview import overview
from core.hints import list_group_of
from core.principal import Principal
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.feed import Feed
from tasks_app.live.list_feed import ListFeed
from tasks_app.live.parts import Part, SlowPartsFeed

PARTS = ("attention", "counts", "oldest", "decisions", "workers")


@dataclass(slots=True, kw_only=True)
class OverviewFeed(SlowPartsFeed[Principal]):
    """Follows the overview for one reader."""

    def fragments(self, principal: Principal) -> Iterator[Part]:
        """See PartsFeed."""
        context = {**overview(principal=principal).context(), "principal": principal, "oob": True}
        for part in PARTS:
            template = "tasks/_counts.html" if part == "counts" else f"board/_{part}.html"
            yield part, render_to_string(template, context)


class OverviewConsumer(LiveConsumer):
    """Follows the overview of a workspace."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the workspace that the address names, else the reader's own."""
        query = self.scope.get("query_string", b"").decode("latin1")
        who = partial(self.listener.in_workspace, ListFeed.workspace_of(query))
        return OverviewFeed(who=who), [list_group_of(who().workspace.pk)]
