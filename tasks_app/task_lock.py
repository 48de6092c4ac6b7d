"""Locking tasks' rows: whoever is stopped while it holds one gives it back after a lease."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from core.standstill import StandsStill
from tasks_app.models import Task


def tasks_locked(**how: Any) -> QuerySet[Task]:
    """Return tasks that are locked as they are read, in a transaction. ``how``: options of ``select_for_update``.

    Such a process holds no lease that could run out, only the row: Postgres ends a transaction that stands still for
    longer than a lease (L02, L03). The database's error is then an InternalError: ``database_away``.
    """
    return Task.objects.select_for_update(**how).annotate(stands_still=StandsStill(settings.LEASE_SECONDS))
