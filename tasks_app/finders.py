"""What a sweeper looks for. Each is one cheap query where there is nothing to find."""

import time
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet

from core.boundaries import Boundary, Position, cross
from core.clock import ClockTimestamp
from tasks_app.external import EXTERNAL_HOLDER
from tasks_app.losses import RAN_OUT, Loss, lease_lose
from tasks_app.models import Status, Task, WaitKind
from tasks_app.parents import awaits, parent_wake
from tasks_app.status import TERMINAL
from tasks_app.wake import wake_now, wake_ups_waiting

BATCH = 500
AGAIN = 1.0  # seconds between two wake-ups for one task by one sweeper
HEAD_START = timedelta(seconds=0.2)  # for the message that whoever made the task due has sent
ACTOR = "sweeper"


class DueTasks:
    """Sends a wake-up for each task that is due and has no lease (B02, W02, case-09).

    Never more messages than there is due work: while as many are waiting as tasks are due, workers are busy, and
    one more would only make the queue longer.
    """

    def __init__(self) -> None:
        self._sent: dict[UUID, float] = {}

    def __call__(self) -> int:
        """Look once; returns how many wake-ups were sent."""
        due = list(tasks_due().values_list("pk", flat=True)[:BATCH])
        now = time.monotonic()
        self._sent = {task: at for task, at in self._sent.items() if now - at < AGAIN}
        wanted = [task for task in due if task not in self._sent]
        if not wanted:
            return 0
        waiting = wake_ups_waiting()
        if waiting is None or waiting >= len(due):
            return 0
        for count, task in enumerate(wanted):
            cross(Boundary.TIMER, Position.BEFORE, task=task)
            if not wake_now(task):
                return count
            self._sent[task] = now
        return len(wanted)


def tasks_due() -> QuerySet[Task]:
    """Select the tasks that are due and that nobody holds, the longest due first."""
    due = Task.objects.filter(wake_at__lte=ClockTimestamp() - HEAD_START, lease_nonce=None)
    return due.exclude(status__in=TERMINAL).order_by("wake_at")


def leases_ran_out() -> int:
    """Declare lost what ran out; returns how many. Call it only with the right to judge by time (Sweeper)."""
    over = Task.objects.filter(lease_nonce__isnull=False, lease_until__lte=ClockTimestamp()).order_by("lease_until")
    held = [row for row in over.values_list("pk", "lease_nonce", "lease_holder")[:BATCH] if row[1]]
    return sum(
        lease_lose(task=pk, nonce=nonce, loss=_loss(holder), actor=ACTOR, only_if_ran_out=True)
        for pk, nonce, holder in held
        if nonce
    )


def _loss(holder: str) -> Loss:
    """Nobody renews the lease of an agent outside: that it ran out says that no report came, not that a worker died."""
    if holder.startswith(EXTERNAL_HOLDER):
        return Loss(seen="no report from outside by the deadline", counted=False)
    return Loss(seen=RAN_OUT)


def parents_wake() -> int:
    """Make due the parents whose awaited child has ended and told nobody (W04); returns how many."""
    ended = Task.objects.filter(
        status__in=TERMINAL,
        parent__status=Status.WAITING,
        parent__wait__kind=WaitKind.CHILD,
        parent__wake_at=None,
    )
    rows = ended.values_list("pk", "parent_id", "parent__open_wait", "parent__child_tasks")[:BATCH]
    awaited = {parent: child for child, parent, wait, children in rows if awaits(child, wait, children)}
    return sum(parent_wake(parent=parent, child=child) for parent, child in awaited.items())
