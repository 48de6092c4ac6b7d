"""Workers, live: the rows of the page as they are now, what is wrong with all, and how many are new."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.template.loader import render_to_string

from core.board.fleet import MOST, Member, fleet, problems
from core.clock import database_now
from core.hints import list_group_of
from core.places import place_url
from core.principal import Principal
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.feed import Feed
from tasks_app.live.list_feed import ListFeed
from tasks_app.live.parts import Part, SlowPartsFeed


def fleet_query(principal: Principal, members: list[Member]) -> str:
    """Return what the page's socket must know: the workspace, and which rows are shown."""
    rows = ".".join(one.worker.pk.hex for one in members)
    return urlencode({"workspace": principal.workspace.slug, "rows": rows})


@dataclass(slots=True, kw_only=True)
class FleetFeed(SlowPartsFeed[Principal]):
    """Follows the rows of one page for one reader; they change in place, newcomers wait."""

    ids: set[UUID]

    @classmethod
    def of(cls, query: str, who: Callable[[], Principal]) -> "FleetFeed":
        """Return the feed for what ``fleet_query`` made. Raises ValueError for another."""
        rows = parse_qs(query).get("rows", [""])[0]
        return cls(who=who, ids={UUID(hex=one) for one in rows.split(".")[:MOST] if one})

    def fragments(self, principal: Principal) -> Iterator[Part]:
        """See PartsFeed."""
        members = fleet(workspace=principal.workspace, now=database_now())
        for one in members:
            if one.worker.pk in self.ids:
                yield str(one.worker.pk), _part("board/_worker.html", one=one)
        yield (
            "problems",
            _part("board/_fleet_problems.html", problems=list(problems(members, workspace=principal.workspace))),
        )
        new = sum(one.worker.pk not in self.ids for one in members)
        yield "new", _part("partials/newcomers.html", count=new, url=place_url(principal, "workers"))


def _part(template: str, **context: Any) -> str:
    return render_to_string(template, {**context, "oob": True})


class FleetConsumer(LiveConsumer):
    """Follows the workers, as one workspace sees them."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the workspace that the address names, else the reader's own."""
        query = self.scope.get("query_string", b"").decode("latin1")
        who = partial(self.listener.in_workspace, ListFeed.workspace_of(query))
        return FleetFeed.of(query, who), [list_group_of(who().workspace.pk)]
