"""Alerts, live: the rows of their page, how many came since, and the count in every page's navigation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse

from approvals_app.notify.models import Alert
from approvals_app.notify.selectors.alerts import (
    SHOWN,
    alerts_again,
    alerts_count,
    alerts_fingerprint,
    alerts_newer,
)
from approvals_app.notify.services.alerts import GROUP
from tasks_app.live.message import Message
from tasks_app.live.parts import Part, PartsFeed
from tasks_app.live.reader import Listener


def alerts_query(rows: list[Alert]) -> str:
    """Return what the socket of the page must know: which alerts it shows."""
    return urlencode({"rows": ".".join(row.pk.hex for row in rows)})


@dataclass(slots=True, kw_only=True)
class AlertsFeed(PartsFeed[User]):
    """Follows the alerts that one page shows; those that came since wait behind a button."""

    ids: list[UUID]

    @classmethod
    def of(cls, query: str, who: Callable[[], User]) -> "AlertsFeed":
        """Return the feed for the query that ``alerts_query`` made. Raises ValueError for another."""
        given = parse_qs(query).get("rows", [""])[0]
        return cls(who=who, ids=[UUID(hex=one) for one in given.split(".") if one][:SHOWN])

    def fragments(self, user: User) -> Iterator[Part]:
        """See PartsFeed."""
        for alert in alerts_again(user=user, ids=self.ids):
            if self._sent.changed([(f"state-{alert.pk}", alert.state)]):
                yield f"alert-{alert.pk}", render_to_string("alerts/_state.html", {"alert": alert, "oob": True})
        count = alerts_newer(user=user, shown=self.ids)
        yield (
            "new",
            render_to_string("partials/newcomers.html", {"count": count, "url": reverse("alerts"), "oob": True}),
        )


@dataclass(slots=True)
class AlertsPart:
    """Tells one reader's pages how many alerts stand. See ``tasks_app.live.frame``."""

    listener: Listener
    _told: int | None = None

    def groups(self) -> list[str]:
        """Return the group of all alerts: which of them concern the reader is asked when it is read."""
        return [GROUP]

    @property
    def fingerprint(self) -> Callable[[], object]:
        """See ``tasks_app.live.frame``."""
        return alerts_fingerprint

    def forget(self) -> None:
        """The page resumes: tell it once more."""
        self._told = None

    def read(self) -> Message | None:
        """Return the new count as a fragment, or None where it is the old one."""
        count = alerts_count(user=self.listener.user())
        if count == self._told:
            return None
        more = self._told is not None and count > self._told
        self._told = count
        message: Message = {"html": alerts_html(count)}
        return message | ({"say": "One alert stands." if count == 1 else f"{count} alerts stand."} if more else {})


def alerts_html(count: int) -> str:
    """Return the count of the navigation, to be swapped in."""
    return render_to_string("partials/alerts_place.html", {"alerts_standing": count, "oob": True})
