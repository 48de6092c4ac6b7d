"""What a sweeper looks for. Each is a cheap query, or two, where there is nothing to find."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from core.boundaries import Boundary, Position, cross
from core.clock import ClockTimestamp
from core.row_by_row import row_by_row
from tasks_app.external import EXTERNAL_HOLDER
from tasks_app.losses import RAN_OUT, Loss, lease_lose
from tasks_app.models import Task
from tasks_app.parents import parent_wake, parents_asleep
from tasks_app.status import TERMINAL
from tasks_app.wake import wake_now, wake_ups_waiting

BATCH = 500
AGAIN = 1.0  # seconds between two wake-ups for one task by one sweeper
HEAD_START = timedelta(seconds=0.2)  # for the message that whoever made the task due has sent
AHEAD = timedelta(seconds=2)  # how long before it is due a task is noticed; longer than two looks are apart
ACTOR = "sweeper"


class DueTasks:
    """Sends a wake-up for each task that is due and has no lease (B02, W02, case-09).

    A task that time made due (a timer, the wait after a loss) has a message from nobody else: it is seen coming, and
    told of once as soon as it is due, whatever else waits. What somebody made due has its message already, and is told
    of again only if that is lost. Of these there are never more messages than there is due work: while as many are
    waiting as tasks are due, workers are busy, and one more would only make the queue longer.

    Where more is due than one look takes, the next look goes on behind it: what nobody takes (its only worker hangs, or
    is full) must not hide what others would. Rejected: putting such a task off, which would say that it is not due.
    """

    def __init__(self) -> None:
        self._sent: dict[UUID, float] = {}
        self._coming: set[UUID] = set()
        self._behind: tuple[UUID, datetime | None] | None = None  # the last one that the look before has told of

    def __call__(self) -> int:
        """Look once; returns how many wake-ups were sent."""
        now = time.monotonic()
        self._sent = {task: at for task, at in self._sent.items() if now - at < AGAIN}
        sent = self._tell_timed()
        due = list(self._next().values_list("pk", "wake_at")[:BATCH])
        wanted = [task for task, _ in due if task not in self._sent]
        if wanted:
            waiting = wake_ups_waiting()
            if waiting is None or waiting >= (BATCH if self._behind else len(due)):
                return sent
            told = self._tell(wanted)
            sent += told
            if told < len(wanted):
                return sent
        self._behind = due[-1] if len(due) == BATCH else None
        return sent

    def _next(self) -> QuerySet[Task]:
        due = tasks_due().order_by("wake_at", "pk")
        if self._behind is None:
            return due
        pk, at = self._behind
        return due.filter(Q(wake_at__gt=at) | Q(pk__gt=pk), wake_at__gte=at)

    def _tell_timed(self) -> int:
        """Tell of the tasks that were seen coming and are due now."""
        now = ClockTimestamp()
        soon = _unheld().filter(wake_at__gt=now - AHEAD, wake_at__lte=now + AHEAD).annotate(now=now)
        rows = soon.values_list("pk", "wake_at", "now")[:BATCH]
        left = {task: at - clock for task, at, clock in rows if at is not None}
        seen, self._coming = self._coming, {task for task, wait in left.items() if wait > timedelta(0)}
        return self._tell([task for task in left if task in seen and task not in self._coming])

    def _tell(self, tasks: Sequence[UUID]) -> int:
        for count, task in enumerate(tasks):
            cross(Boundary.TIMER, Position.BEFORE, task=task)
            if not wake_now(task):
                return count
            self._sent[task] = time.monotonic()
        return len(tasks)


def tasks_due() -> QuerySet[Task]:
    """Select the tasks that are due and that nobody holds, the longest due first."""
    return _unheld().filter(wake_at__lte=ClockTimestamp() - HEAD_START)


def _unheld() -> QuerySet[Task]:
    return Task.objects.filter(lease_nonce=None).exclude(status__in=TERMINAL).order_by("wake_at")


def leases_ran_out() -> int:
    """Declare lost what ran out; returns how many. Call it only with the right to judge by time (Sweeper)."""
    over = Task.objects.filter(lease_nonce__isnull=False, lease_until__lte=ClockTimestamp()).order_by("lease_until")
    return row_by_row(over.values_list("pk", "lease_nonce", "lease_holder")[:BATCH], _lose)


def _lose(row: tuple[UUID, UUID | None, str]) -> int:
    task, nonce, holder = row
    if nonce is None:
        return 0
    return lease_lose(task=task, nonce=nonce, loss=_loss(holder), actor=ACTOR, only_if_ran_out=True)


def _loss(holder: str) -> Loss:
    """Nobody renews the lease of an agent outside: that it ran out says that no report came, not that a worker died."""
    if holder.startswith(EXTERNAL_HOLDER):
        return Loss(seen="no report from outside by the deadline", counted=False)
    return Loss(seen=RAN_OUT)


def parents_wake() -> int:
    """Make due the parents whose awaited child has ended and told nobody (W04); returns how many."""
    return row_by_row(parents_asleep()[:BATCH], lambda row: parent_wake(parent=row[0], child=row[1]))
