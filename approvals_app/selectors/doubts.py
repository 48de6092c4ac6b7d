"""Calls whose outcome nobody can tell by machine, over the workspaces that a person may see."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from tasks_app.models import Call, Event
from tasks_app.status import CallState

MOST_DOUBTS = 100


def doubts(*, workspaces: Sequence[UUID], after: int | None = None) -> list[Call]:
    """Return a part of the calls in doubt, the oldest attempt first; at most a hundred, those that follow ``after``."""
    return doubts_part(workspaces=workspaces, after=after)[0]


def doubts_part(*, workspaces: Sequence[UUID], after: int | None = None) -> tuple[list[Call], int | None]:
    """Return the same, and the id after which the next part begins; None at the end."""
    found = _told(Call.objects.filter(workspace__in=workspaces, state=CallState.IN_DOUBT))
    # Settled meanwhile, the last one of the part before still says where the next begins.
    last = _told(Call.objects.filter(workspace__in=workspaces, pk=after)).first() if after else None
    if last is not None:
        at = last.attempted_at  # type: ignore[attr-defined]  # annotated
        later = Q(attempted_at__isnull=True) | Q(attempted_at__gt=at) if at else Q(pk__in=[])
        found = found.filter(later | Q(attempted_at=at, pk__gt=last.pk))
    rows = list(found[: MOST_DOUBTS + 1])
    return rows[:MOST_DOUBTS], rows[MOST_DOUBTS - 1].pk if len(rows) > MOST_DOUBTS else None


def doubts_again(*, workspaces: Sequence[UUID], ids: Sequence[int]) -> list[Call]:
    """Return the same calls as they are now, in doubt or not."""
    return list(_told(Call.objects.filter(workspace__in=workspaces, pk__in=ids)))


def doubts_count(*, workspaces: Sequence[UUID]) -> int:
    """Count the calls in doubt."""
    return Call.objects.filter(workspace__in=workspaces, state=CallState.IN_DOUBT).count()


def _told(found: QuerySet[Call]) -> QuerySet[Call]:
    event = Event.objects.filter(stream=OuterRef("task_id"))
    named = event.annotate(named=KeyTextTransform("name", "data"), said=KeyTextTransform("reason", "data"))
    reason = named.filter(kind="call.in_doubt", named=OuterRef("name")).order_by("-seq")
    return (
        found.select_related("task", "workspace", "task__owner")
        .annotate(
            attempted_at=Subquery(event.filter(seq=OuterRef("attempted_seq")).values("at")[:1]),
            doubt=Subquery(reason.values("said")[:1]),
            settled_by=Subquery(event.filter(seq=OuterRef("settled_seq")).values("actor")[:1]),
            settled_at=Subquery(event.filter(seq=OuterRef("settled_seq")).values("at")[:1]),
        )
        .order_by("attempted_at", "pk")
    )
