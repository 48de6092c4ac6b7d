"""Effects on the outside world, found by reference, resource, time and person."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus
from core.models import Workspace
from tasks_app.models import Call, Event
from tasks_app.status import CallState, EffectClass

ROWS = 50
VERIFIED = (CallState.VERIFIED, CallState.HAPPENED)
ANSWERED = (CallState.ANSWERED, CallState.OK)
UNKNOWN = (
    CallState.ATTEMPTED,
    CallState.STARTED,
    CallState.UNKNOWN,
    CallState.IN_DOUBT,
    CallState.UNKNOWN_SETTLED,
)
NONE = (CallState.REFUSED, CallState.NOT_HAPPENED)
KINDS: dict[str, tuple[str, tuple[CallState, ...]]] = {
    "verified": ("Verified", VERIFIED),
    "answered": ("Answered, not read back", ANSWERED),
    "unknown": ("Not answered yet, or unknown", UNKNOWN),
    "none": ("No effect", NONE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectFilter:
    """What the list is narrowed to; an empty field narrows nothing. ``since``, ``until``: of the first attempt.

    ``person``: a username: who approved it, who owns the task, or who recorded what happened.
    """

    reference: str = ""
    resource: str = ""
    tool: str = ""
    person: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPage:
    """Rows, the newest first; ``older`` and ``newer`` are the keys of the pages beside this one."""

    rows: list[Call]
    older: int | None
    newer: int | None


def effects(
    *, workspace: Workspace, filters: EffectFilter, before: int | None = None, after: int | None = None
) -> EffectPage:
    """Return one page of what was attempted outside. ``before``, ``after``: the call next to which it begins."""
    found = _filtered(workspace, filters)
    if after is not None:
        rows = list(_told(_beside(found, workspace, after, later=True)).order_by("first_attempt_at", "pk")[: ROWS + 1])
        more, rows = len(rows) > ROWS, rows[:ROWS][::-1]
        return EffectPage(rows=rows, older=rows[-1].pk if rows else None, newer=rows[0].pk if more else None)
    page = _beside(found, workspace, before, later=False) if before is not None else found
    rows = list(_told(page).order_by("-first_attempt_at", "-pk")[: ROWS + 1])
    older = rows[ROWS - 1].pk if len(rows) > ROWS else None
    return EffectPage(rows=rows[:ROWS], older=older, newer=rows[0].pk if before is not None and rows else None)


def tools_used(*, workspace: Workspace) -> list[str]:
    """List the tools that ever acted in a workspace, for the filter."""
    found = _acting(workspace).order_by("tool").values_list("tool", flat=True).distinct()
    return list(found)


def _acting(workspace: Workspace) -> QuerySet[Call]:
    return Call.objects.filter(workspace=workspace, first_attempt_at__isnull=False).exclude(
        effect_class=EffectClass.NONE
    )


def _filtered(workspace: Workspace, by: EffectFilter) -> QuerySet[Call]:
    found = _acting(workspace)
    if by.kind in KINDS:
        found = found.filter(state__in=KINDS[by.kind][1])
    plain = {
        "reference__icontains": by.reference,
        "resource__icontains": by.resource,
        "tool": by.tool,
        "first_attempt_at__gte": by.since,
        "first_attempt_at__lt": by.until,
    }
    found = found.filter(**{name: value for name, value in plain.items() if value})
    return found.filter(_by(by.person)) if by.person else found


def _by(person: str) -> Q:
    approved = _approval().filter(decided_by__username=person)
    settled = Event.objects.filter(stream=OuterRef("task_id"), seq=OuterRef("settled_seq"), actor=f"person:{person}")
    return Q(task__owner__username=person) | Exists(approved) | Exists(settled)


def _approval() -> QuerySet[ApprovalRequest]:
    same = ApprovalRequest.objects.filter(task=OuterRef("task_id"), name=OuterRef("name"))
    return same.filter(status=ApprovalStatus.CONSUMED)


def _beside(found: QuerySet[Call], workspace: Workspace, key: int, *, later: bool) -> QuerySet[Call]:
    """Return the rows after, or before, that call in the order of the list; none where it is of another workspace."""
    at = Call.objects.filter(workspace=workspace, pk=key).values("first_attempt_at")[:1]
    side = "gt" if later else "lt"
    beside = Q(**{f"first_attempt_at__{side}": Subquery(at)})
    return found.filter(beside | Q(first_attempt_at=Subquery(at), **{f"pk__{side}": key}))


def _told(found: QuerySet[Call]) -> QuerySet[Call]:
    event = Event.objects.filter(stream=OuterRef("task_id"))
    return found.select_related("task", "task__owner").annotate(
        attempted_by=Subquery(event.filter(seq=OuterRef("attempted_seq")).values("actor")[:1]),
        settled_by=Subquery(event.filter(seq=OuterRef("settled_seq")).values("actor")[:1]),
        approver=Subquery(_approval().values("decided_by__username")[:1]),
        approval=Subquery(_approval().values("pk")[:1]),
    )
