"""What is new on the desk: the state of each visible row, the counts, how many newcomers there are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse

from approvals_app.live.card_feed import card_fragments, card_state
from approvals_app.models import ApprovalRequest
from approvals_app.rights import roles_of, workspaces_of
from approvals_app.selectors.desk import ROWS, WAITING, DeskPage, Kind, Tab, desk_counts, groups_again, newcomers_count
from approvals_app.selectors.doubts import doubts, doubts_again
from approvals_app.selectors.places import Place
from approvals_app.selectors.requests import requests_again
from core.access import Right
from core.principal import Principal
from tasks_app.live.parts import Part, PartsFeed
from tasks_app.models import Call

MOST_SHOWN = 2 * ROWS
_WHOLE = "whole"  # the page shows the whole shelf


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The card that a page shows beside its list, and in which state (``card_state``), as the page said it."""

    approval: UUID
    state: str

    @classmethod
    def of(cls, approval: object, state: object) -> "Beside | None":
        """Return what an order or an address says; None for no card. Raises ValueError for nonsense."""
        return cls(UUID(str(approval)), str(state)) if approval else None


def desk_query(*, tab: Tab, kind: Kind | None, page: DeskPage, calls: list[Call], first: bool) -> str:
    """Return what the socket of a desk page must know.

    ``first``: the page shows the top of the shelf, so newcomers are counted, down to where its last row stands.
    """
    shown = {
        "tab": tab.value,
        "rows": ".".join(row.pk.hex for row in page.rows),
        "groups": ".".join(group.kind.key for group in page.groups),
        "calls": ".".join(str(call.pk) for call in calls),
    }
    narrow = {"agent": kind.agent, "tool": kind.tool, "rule": kind.rule} if kind else {}
    top = {"end": str(page.end or _WHOLE)} if first else {}
    return urlencode({name: value for name, value in (shown | narrow | top).items() if value})


@dataclass(slots=True, kw_only=True)
class DeskFeed(PartsFeed[User]):
    """Follows one page of the desk for one reader. There is no cursor: ids commit out of order."""

    tab: Tab
    kind: Kind | None
    rows: list[UUID]
    groups: frozenset[str]
    calls: list[int]
    first: bool
    end: Place | None
    csrf_token: str = ""
    stepped_up_at: Callable[[], datetime | None] = lambda: None  # when the reader's session showed a second factor
    beside: Beside | None = None
    _told: tuple[Beside | None, str] = (None, "")  # of what the page said last: the state that it was brought to

    @classmethod
    def of(
        cls,
        query: str,
        who: Callable[[], User],
        csrf_token: str = "",
        stepped_up_at: Callable[[], datetime | None] = lambda: None,
    ) -> "DeskFeed":
        """Return the feed for the query that ``desk_query`` made. Raises ValueError for another."""
        given = {name: values[0] for name, values in parse_qs(query).items()}
        end = given.get("end", _WHOLE)
        return cls(
            who=who,
            tab=Tab(given.get("tab", "")),
            kind=kind_of(given),
            rows=[UUID(hex=one) for one in _listed(given, "rows")],
            groups=frozenset(_listed(given, "groups")),
            calls=[int(one) for one in _listed(given, "calls")],
            first="end" in given,
            end=None if end == _WHOLE else Place.read(end),
            beside=Beside.of(given.get("looking"), given.get("shown")),
            csrf_token=csrf_token,
            stepped_up_at=stepped_up_at,
        )

    def fragments(self, user: User) -> Iterator[Part]:
        """See PartsFeed."""
        workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
        for row in requests_again(workspaces=workspaces, ids=self.rows):
            if self._sent.changed([(f"state-{row.pk}", row_state(row))]):
                yield f"row-{row.pk}", render_to_string("approvals/_row_state.html", {"row": row, "oob": True})
        for call in doubts_again(workspaces=workspaces, ids=self.calls):
            if self._sent.changed([(f"state-{call.pk}", f"{call.state} {call.settled_seq}")]):
                yield f"call-{call.pk}", render_to_string("approvals/_doubt_state.html", {"call": call, "oob": True})
        yield from self._preview(user, workspaces)
        yield from self._groups(user)
        yield "tabs", render_to_string("approvals/_tabs.html", {"tabs": tabs(user, self.tab), "oob": True})
        if self.first:
            context = {"count": self._newcomers(user, workspaces), "url": desk_url(self.tab, self.kind), "oob": True}
            yield "new", render_to_string("partials/newcomers.html", context)

    def _preview(self, user: User, workspaces: list[UUID]) -> Iterator[tuple[str, str]]:
        """Send the card beside the list where it is no longer as the page shows it. While it is, it is left alone,
        with whatever in it has the focus.
        """
        beside = self.beside  # before the row: the page may show another, or a newer state of it, in a moment
        if beside is None:
            return
        found = ApprovalRequest.objects.filter(pk=beside.approval, workspace__in=workspaces)
        row = found.select_related("workspace", "task__owner").first()
        if row is None:
            return
        roles = roles_of(user=user, workspace=row.workspace_id)
        shown_at = self.stepped_up_at() if row.step_up_within else None
        principal = Principal(user=user, workspace=row.workspace, roles=roles, stepped_up_at=shown_at)
        said, shown = self._told
        if said is not beside:
            shown = beside.state
            self._sent.forget("card-")
        state = card_state(row, principal)
        if state != shown:
            token = self.csrf_token
            yield from card_fragments(request=row, principal=principal, csrf_token=token, state=state, preview=True)
        self._told = beside, state

    def _groups(self, user: User) -> Iterator[tuple[str, str]]:
        if not self.groups:
            return
        now = {group.kind.key: group for group in groups_again(user=user, tab=self.tab)}
        for key in sorted(self.groups):
            group = now.get(key)
            if self._sent.changed([(f"state-{key}", f"{group.count} {group.soonest}" if group else "")]):
                context = {"group": group, "key": key, "oob": True}
                yield f"group-{key}", render_to_string("approvals/_group_state.html", context)

    def _newcomers(self, user: User, workspaces: list[UUID]) -> int:
        if self.tab == Tab.DOUBT:
            return len({call.pk for call in doubts(workspaces=workspaces)} - set(self.calls))
        return newcomers_count(user=user, tab=self.tab, kind=self.kind, rows=self.rows, known=self.groups, end=self.end)


def row_state(row: ApprovalRequest) -> str:
    """Return what a row's state depends on; the words of a time change by themselves."""
    return f"{row.status} {row.decided_at} {row.closed_at} {row.consumed_at} {row.decide_by} {row.group}"


def kind_of(given: dict[str, str]) -> Kind | None:
    """Return the group that an address names, or None."""
    if "agent" not in given or "tool" not in given:
        return None
    return Kind(agent=given["agent"], tool=given["tool"], rule=given.get("rule", ""))


def desk_url(tab: Tab, kind: Kind | None = None) -> str:
    """Return the address of a shelf, or of one group on it."""
    return f"{reverse('approvals')}?shelf={tab.value}" + (f"&{kind.query}" if kind else "")


_LABELS = {
    Tab.MINE: "Mine",
    Tab.TEAM: "Team",
    Tab.DOUBT: "Outcome unknown",
    Tab.DECIDED: "Decided",
    Tab.EXPIRED: "Expired",
}


def tabs(user: User, here: Tab) -> list[dict[str, object]]:
    """Return the shelves as tabs, with the counts of those that wait."""
    counts = desk_counts(user=user)
    return [
        {"url": desk_url(tab), "label": label, "count": counts[tab], "is_current": tab == here}
        for tab, label in _LABELS.items()
    ]


def _listed(given: dict[str, str], name: str) -> list[str]:
    return [one for one in given.get(name, "").split(".") if one][:MOST_SHOWN]


__all__ = ["WAITING", "DeskFeed", "desk_query", "desk_url", "kind_of", "tabs"]
