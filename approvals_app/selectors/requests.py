"""Requests of the workspaces that somebody may see: one, a list by page key, how many wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals_app.models import ApprovalRequest
from approvals_app.selectors.places import FORTH, Place, behind
from approvals_app.selectors.waiting import approvals_decidable
from approvals_app.status import ApprovalStatus
from core.access import Right
from core.errors import NotFound
from core.models import Workspace
from core.principal import Principal

PAGE = 50
_DECIDED = [
    ApprovalStatus.APPROVED,
    ApprovalStatus.DENIED,
    ApprovalStatus.CONSUMED,
    ApprovalStatus.LAPSED,
    ApprovalStatus.REVOKED,
]


class Shelf(StrEnum):
    """Which requests a list shows."""

    WAITING = "waiting"  # soonest deadline first
    DECIDED = "decided"  # a person answered; latest first
    ENDED = "ended"  # nobody answered: expired, or voided; latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a list; ``after`` is the place from which the next part continues, None at the end."""

    rows: Sequence[ApprovalRequest]
    after: Place | None


def approval_find(*, workspace: Workspace, approval: UUID) -> ApprovalRequest:
    """Return one request. Raises NotFound, the same for an unknown id and for another workspace's (case-25)."""
    found = _rows([workspace.pk]).filter(pk=approval).first()
    if found is None:
        raise NotFound("There is no such approval here, or you may not see it.")
    return found


def requests_again(*, workspaces: Sequence[UUID], ids: Sequence[UUID]) -> list[ApprovalRequest]:
    """Return the same rows as they are now, wherever they are by now."""
    return list(_rows(workspaces).filter(pk__in=ids).order_by("pk"))


def approvals_page(
    *,
    workspaces: Sequence[UUID],
    shelf: Shelf,
    after: Place | None = None,
    limit: int = PAGE,
    only: Mapping[str, Any] | None = None,
    mine: Principal | None = None,
) -> Page:
    """Return a part of the list of these workspaces, by key and never by offset.

    ``only``: values of columns that it is narrowed to; ``mine``: the caller who may decide each.
    """
    rows = _rows(workspaces)
    narrowed = rows.filter(**only or {})
    if mine is not None:
        narrowed = narrowed.filter(pk__in=_mine(mine).values("pk"))
    if shelf == Shelf.WAITING:
        waiting = narrowed.filter(status=ApprovalStatus.REQUESTED)
        rows = (behind(waiting, after) if after else waiting).order_by(*FORTH)
    else:
        shown = narrowed.filter(_on(shelf)).order_by("-pk")
        rows = shown.filter(pk__lt=after.pk) if after else shown
    found = list(rows[: limit + 1])
    return Page(rows=found[:limit], after=Place.of(found[limit - 1]) if len(found) > limit else None)


def approvals_counts(*, workspaces: Sequence[UUID]) -> dict[Shelf, int | None]:
    """Count what waits; the other shelves only grow and are not counted."""
    waiting = ApprovalRequest.objects.filter(workspace__in=workspaces, status=ApprovalStatus.REQUESTED).count()
    return {Shelf.WAITING: waiting, Shelf.DECIDED: None, Shelf.ENDED: None}


def approvals_of_tool(request: ApprovalRequest, *, limit: int = 5) -> Sequence[ApprovalRequest]:
    """Return earlier decisions on the same tool, latest first."""
    rows = _rows([request.workspace_id]).filter(tool=request.tool).exclude(decision="").exclude(pk=request.pk)
    return list(rows.order_by("-decided_at")[:limit])


def _mine(principal: Principal) -> QuerySet[ApprovalRequest]:
    may = principal.may(Right.APPROVALS_DECIDE)
    return approvals_decidable(user=principal.user, workspaces=[principal.workspace.pk] if may else [])


def _rows(workspaces: Sequence[UUID]) -> QuerySet[ApprovalRequest]:
    return (
        ApprovalRequest.objects.filter(workspace__in=workspaces)
        .select_related("task", "task__owner", "workspace", "decided_by", "reopened_by", "replaces", "editor", "grant")
        .prefetch_related("answers__user")
    )


def _on(shelf: Shelf) -> Q:
    decided = Q(status__in=_DECIDED) | Q(status=ApprovalStatus.VOIDED) & ~Q(decision="")
    if shelf == Shelf.DECIDED:
        return decided
    return Q(status=ApprovalStatus.EXPIRED) | Q(status=ApprovalStatus.VOIDED, decision="")
