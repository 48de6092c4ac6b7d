"""Waking the parent of a child that has ended (W04): the one place that does it, whoever ended the child."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from core.clock import ClockTimestamp
from tasks_app.models import Status, Task
from tasks_app.wake import wake


def parent_wake(*, parent: UUID, child: UUID) -> bool:
    """Make due a parent that is parked for the end of this child; say whether it was. A hint: the sweeper looks too.

    Call it after the child's end is committed: no transaction locks two tasks.
    """
    row = Task.objects.filter(pk=parent).values("open_wait", "child_tasks").first()
    if row is None or not awaits(child, row["open_wait"], row["child_tasks"]):
        return False
    # Conditional: a parent that a worker has claimed meanwhile sees the end by itself.
    parked = Task.objects.filter(pk=parent, status=Status.WAITING, lease_nonce=None)
    if not parked.update(wake_at=ClockTimestamp()):
        return False
    wake(parent)
    return True


def awaits(child: UUID, wait: Mapping[str, Any] | None, children: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether an open wait is for this child, named by its id or by the name that the agent gave it."""
    names = {name for name, entry in children.items() if entry.get("child") == str(child)}
    return wait is not None and wait.get("kind") == "child" and wait.get("on") in names | {str(child)}
