"""Calls whose outcome nobody can tell by machine, over the workspaces that a person may see."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from tasks_app.models import Call, Event
from tasks_app.status import CallState

MOST_DOUBTS = 100


def doubts(*, workspaces: Sequence[UUID]) -> list[Call]:
    """Return the calls in doubt, the oldest attempt first; at most a hundred."""
    return list(_told(Call.objects.filter(workspace__in=workspaces, state=CallState.IN_DOUBT))[:MOST_DOUBTS])


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
