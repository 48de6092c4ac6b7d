"""The calls of a task that are not settled."""

from uuid import UUID

from django.db.models import QuerySet

from tasks_app.models import Call
from tasks_app.status import OPEN


def calls_open(task: UUID) -> QuerySet[Call]:
    """Select them in the order in which they were intended."""
    return Call.objects.filter(task=task, state__in=OPEN).order_by("id")
