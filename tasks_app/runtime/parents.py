"""Waking the parent of a child that has ended (W04). A hint; the sweeper finds parents whose child has ended too."""

from uuid import UUID

from core.clock import ClockTimestamp
from tasks_app.models import Status, Task
from tasks_app.wake import wake


def parent_wake(parent: UUID) -> None:
    """Make a parked parent due. Conditional: a parent that runs sees the end by itself."""
    parked = Task.objects.filter(pk=parent, status=Status.WAITING, lease_nonce=None, open_wait__kind="child")
    if parked.update(wake_at=ClockTimestamp()):
        wake(parent)
