"""The desk: what each shelf shows, grouped so that one runaway agent fills one row (flood control)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Max, Min, Q, QuerySet, TextField
from django.db.models.functions import Cast

from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.selectors.doubts import doubts_count
from approvals_app.selectors.places import BACK, FORTH, Place, ahead, behind
from approvals_app.selectors.waiting import approvals_decidable
from approvals_app.status import ApprovalStatus
from core.access import Right

ROWS = 50
GROUPED = 4  # so many cards of one agent, tool and rule are one row
MOST_GROUPS = 50
COUNTED = 1000  # newcomers are counted up to here
_BY_A_PERSON = [
    ApprovalStatus.APPROVED,
    ApprovalStatus.DENIED,
    ApprovalStatus.CONSUMED,
    ApprovalStatus.LAPSED,
    ApprovalStatus.REVOKED,
]


class Tab(StrEnum):
    """The shelves of the desk."""

    MINE = "mine"  # what this person may decide; soonest deadline first
    TEAM = "team"  # all that waits in their workspaces; soonest deadline first
    DOUBT = "doubt"  # calls whose outcome is unknown; oldest attempt first
    DECIDED = "decided"  # a person answered; latest first
    EXPIRED = "expired"  # nobody answered: expired or withdrawn; latest first


WAITING = frozenset({Tab.MINE, Tab.TEAM})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What cards are grouped by."""

    agent: str
    tool: str
    rule: str

    @property
    def query(self) -> str:
        """The kind as the part of an address."""
        return urlencode({"agent": self.agent, "tool": self.tool, "rule": self.rule})

    @property
    def key(self) -> str:
        """A short name for the row of the group on a page."""
        return blake2b(self.query.encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Many cards of one kind: one row. ``sample`` is the one that expires first."""

    kind: Kind
    count: int
    tasks: int
    soonest: datetime | None
    latest: datetime
    sample: ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskPage:
    """Groups and single rows of a shelf; ``end``: where its last row stands, None where no more follow."""

    groups: Sequence[Group]
    rows: Sequence[ApprovalRequest]
    end: Place | None

    @property
    def entries(self) -> list[Group | ApprovalRequest]:
        """Groups and rows together, the soonest deadline first."""
        both: list[Group | ApprovalRequest] = [*self.groups, *self.rows]
        return sorted(both, key=_deadline) if self.groups else both


def desk_page(*, user: User, tab: Tab, kind: Kind | None = None, after: Place | None = None) -> DeskPage:
    """Return a part of a shelf, from a place on. ``kind``: the opened group, each card for itself."""
    found = shelf(user=user, tab=tab)
    if tab not in WAITING:
        rows = list((found.filter(pk__lt=after.pk) if after else found).order_by("-pk")[: ROWS + 1])
        return _part([], rows)
    large = [] if kind else _large(found)  # once: what is a row of its own must not be looked for in a group
    groups = [] if after else _groups(found, large)
    found = of_kind(found, kind) if kind else _without(found, large)
    rows = list((behind(found, after) if after else found).order_by(*FORTH)[: ROWS + 1])
    return _part(groups, rows)


def desk_counts(*, user: User) -> dict[Tab, int | None]:
    """Count what waits; the other shelves only grow and are not counted."""
    workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
    return {
        Tab.MINE: approvals_decidable(user=user).count(),
        Tab.TEAM: ApprovalRequest.objects.filter(workspace__in=workspaces, status=ApprovalStatus.REQUESTED).count(),
        Tab.DOUBT: doubts_count(workspaces=workspaces),
        Tab.DECIDED: None,
        Tab.EXPIRED: None,
    }


def newcomers_count(
    *, user: User, tab: Tab, kind: Kind | None, rows: Sequence[UUID], known: frozenset[str], end: Place | None
) -> int:
    """Count the cards that the first part of a shelf would show and a page does not: they are none of its ``rows`` and
    in none of its groups ``known`` (their keys). ``end``: where its last row stood, None where no more followed.

    Not by their ids: a card that was passed on to this group is old, and ids commit out of order.
    """
    found = shelf(user=user, tab=tab).exclude(pk__in=rows)
    found = of_kind(found, kind) if kind else found
    if end is not None:
        found = ahead(found, end) if tab in WAITING else found.filter(pk__gt=end.pk)
    if not known:
        return found[:COUNTED].count()
    kinds = found.order_by().values_list("agent", "tool", "rule").annotate(count=Count("pk"))
    others = [int(n) for agent, tool, rule, n in kinds if Kind(agent=agent, tool=tool, rule=rule).key not in known]
    return min(COUNTED, sum(others))


def groups_again(*, user: User, tab: Tab) -> list[Group]:
    """Return the groups of a shelf as they are now."""
    found = shelf(user=user, tab=tab)
    return _groups(found, _large(found)) if tab in WAITING else []


def shelf(*, user: User, tab: Tab) -> QuerySet[ApprovalRequest]:
    """Return all requests of a shelf that this person may see."""
    workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
    seen = ApprovalRequest.objects.filter(workspace__in=workspaces).select_related(
        "task", "task__owner", "workspace", "decided_by", "reopened_by"
    )
    match tab:
        case Tab.MINE:
            return seen.filter(pk__in=approvals_decidable(user=user).values("pk"))
        case Tab.TEAM:
            return seen.filter(status=ApprovalStatus.REQUESTED)
        case Tab.DECIDED:
            return seen.filter(Q(status__in=_BY_A_PERSON) | Q(status=ApprovalStatus.VOIDED) & ~Q(decision=""))
        case Tab.EXPIRED:
            return seen.filter(Q(status=ApprovalStatus.EXPIRED) | Q(status=ApprovalStatus.VOIDED, decision=""))
    return seen.none()


def of_kind(found: QuerySet[ApprovalRequest], kind: Kind) -> QuerySet[ApprovalRequest]:
    """Return the cards of one kind."""
    return found.filter(agent=kind.agent, tool=kind.tool, rule=kind.rule)


def _large(found: QuerySet[ApprovalRequest]) -> list[Any]:
    """Return the kinds that have enough cards to be one row, the soonest first."""
    counted = (
        found.order_by()
        .values("agent", "tool", "rule")
        .annotate(
            count=Count("pk"),
            tasks=Count("task", distinct=True),
            soonest=Min("decide_by"),
            # min() of a uuid needs a cast; ids of version 7 sort by their time as text too.
            first=Min(Cast("pk", TextField())),
            latest=Max("requested_at"),
        )
        .filter(count__gte=GROUPED)
        .order_by("soonest")[:MOST_GROUPS]
    )
    return list(counted)


def _groups(found: QuerySet[ApprovalRequest], large: list[Any]) -> list[Group]:
    samples = {str(row.pk): row for row in found.filter(pk__in=[one["first"] for one in large])}
    return [
        Group(
            kind=Kind(agent=one["agent"], tool=one["tool"], rule=one["rule"]),
            count=one["count"],
            tasks=one["tasks"],
            soonest=one["soonest"],
            latest=one["latest"],
            sample=samples[one["first"]],
        )
        for one in large
        if one["first"] in samples
    ]


def _without(found: QuerySet[ApprovalRequest], large: list[Any]) -> QuerySet[ApprovalRequest]:
    for one in large:
        found = found.exclude(agent=one["agent"], tool=one["tool"], rule=one["rule"])
    return found


def _part(groups: list[Group], rows: list[ApprovalRequest]) -> DeskPage:
    return DeskPage(groups=groups, rows=rows[:ROWS], end=Place.of(rows[ROWS - 1]) if len(rows) > ROWS else None)


def _deadline(entry: "Group | ApprovalRequest") -> tuple[bool, datetime, str]:
    if isinstance(entry, Group):
        return entry.soonest is None, entry.soonest or entry.latest, entry.kind.key
    return entry.decide_by is None, entry.decide_by or entry.requested_at, str(entry.pk)


def neighbours(
    *, user: User, tab: Tab, kind: Kind | None, request: ApprovalRequest
) -> tuple[ApprovalRequest | None, ApprovalRequest | None]:
    """Return the cards before and after this one on a shelf; also where it has left the shelf meanwhile."""
    found = shelf(user=user, tab=tab).exclude(pk=request.pk)
    found = of_kind(found, kind) if kind else found
    if tab not in WAITING:
        return found.filter(pk__gt=request.pk).order_by("pk").first(), found.filter(pk__lt=request.pk).order_by(
            "-pk"
        ).first()
    here = Place.of(request)
    return ahead(found, here).order_by(*BACK).first(), behind(found, here).order_by(*FORTH).first()
