"""What is new on the page of stops: which were lifted, what may still send before each, how many were set since."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse

from approvals_app.rights import workspaces_of
from approvals_app.selectors.standing import StandingStop, standing_stops
from core.access import Right
from tasks_app.live.parts import Part, SlowPartsFeed

MOST_SHOWN = 500  # stops that one page is told of: no workspace has so many


def stops_query(stops: list[StandingStop]) -> str:
    """Return what the socket of the page must know: which stops it shows."""
    return urlencode({"rows": ".".join(str(one.switch.pk) for one in stops)})


@dataclass(slots=True, kw_only=True)
class StopsFeed(SlowPartsFeed[User]):
    """Follows the stops that one page shows. Each event of a workspace may end an attempt: read every two seconds."""

    ids: list[int]
    csrf_token: str = ""

    @classmethod
    def of(cls, query: str, who: Callable[[], User], csrf_token: str = "") -> "StopsFeed":
        """Return the feed for the query that ``stops_query`` made. Raises ValueError for another."""
        given = parse_qs(query).get("rows", [""])[0]
        ids = [int(one) for one in given.split(".") if one][:MOST_SHOWN]
        return cls(who=who, ids=list(dict.fromkeys(ids)), csrf_token=csrf_token)

    def fragments(self, user: User) -> Iterator[Part]:
        """See PartsFeed."""
        standing = {one.switch.pk: one for one in standing_stops(user=user)}
        many = len(workspaces_of(user=user, right=Right.APPROVALS_READ)) > 1
        for pk in self.ids:
            one = standing.get(pk)
            if self._sent.changed([(f"state-{pk}", one.state if one else "lifted")]):
                context = {"one": one, "pk": pk, "many": many, "csrf_token": self.csrf_token, "oob": True}
                yield f"stop-{pk}", render_to_string("approvals/_stop.html", context)
        count = len(standing.keys() - set(self.ids))
        context = {"count": count, "url": reverse("approvals-stops"), "oob": True}
        yield "new", render_to_string("partials/newcomers.html", context)
