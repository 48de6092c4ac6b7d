"""Losses: a worker died or was cut off; the task goes on at once, later, or not until a person looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from core.clock import database_now
from core.hints import after_commit, live_hint
from tasks_app import workers
from tasks_app.leases import KEEP_STATUS
from tasks_app.models import Event as StoredEvent
from tasks_app.models import Status, Task
from tasks_app.place import Place, place_next
from tasks_app.record.append import append
from tasks_app.record.events import After, Event, SliceLost, TaskQuarantined
from tasks_app.task_lock import tasks_locked
from tasks_app.wake import wake

DEFAULT_LIMIT = 3
LONGEST_BACK_OFF = 60.0  # seconds
GONE, RAN_OUT = "process gone", "lease ran out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How a loss was seen. ``counted`` False: drains, deploys and database restarts are nobody's fault."""

    seen: str
    exit_status: str | None = None
    log_tail: Sequence[str] = ()
    counted: bool = True

    @property
    def whole_worker(self) -> bool:
        """Whether more went than the process that ran the slice: nobody was left who knew how it ended."""
        return _whole_worker(self.seen, self.exit_status)


def _whole_worker(seen: str, exit_status: str | None) -> bool:
    return seen in {GONE, RAN_OUT} and exit_status is None


def lease_lose(*, task: UUID, nonce: UUID, loss: Loss, actor: str, only_if_ran_out: bool = False) -> bool:
    """Declare the slice under this token lost; False if that token does not hold the task (any more).

    The row is locked by its id before the nonce is compared, so that a claim whose commit is still under way is
    waited for and seen. Appends ``slice.lost``, at the agent's limit also ``task.quarantined``; otherwise wakes the
    task after its back-off. ``only_if_ran_out`` checks the lease against the clock under that lock (the sweeper).
    """
    with transaction.atomic():
        row = tasks_locked(skip_locked=only_if_ran_out).filter(pk=task).first()
        if row is None or row.lease_nonce != nonce or (only_if_ran_out and not _ran_out(row)):
            return False
        _lose(row, loss, actor)
    return True


def _ran_out(row: Task) -> bool:
    return row.lease_until is not None and row.lease_until <= database_now()


def _lose(row: Task, loss: Loss, actor: str) -> None:
    place = place_next(row)
    losses = _count(row, place, loss)
    limit = workers.loss_limit(agent=row.agent) or DEFAULT_LIMIT
    events: list[Event] = [_lost(row, place, losses, loss)]
    pause = back_off(_suspected(row, losses, loss))
    changes = _cleared(row, place, losses, pause)
    if loss.counted and losses >= limit:
        events.append(TaskQuarantined(place=place.name, losses=losses))
        changes |= {"status": Status.QUARANTINED, "wake_at": None}
    done = append(stream=row.pk, events=events, actor=actor, task=changes)
    task, workspace = row.pk, row.workspace_id
    if changes["wake_at"] == After(0):
        wake(task)  # before the hint: the takeover waits for it
    after_commit(lambda: live_hint(stream=task, workspace=workspace, seq=done.head_seq))


def _count(row: Task, place: Place, loss: Loss) -> int:
    if not loss.counted:
        return row.losses if row.loss_place == place.name else 0
    return row.losses + 1 if row.loss_place == place.name else 1


def _suspected(row: Task, losses: int, loss: Loss) -> int:
    """Return how many of the losses at this place make us wait: all but the first at which a whole worker went.

    Who goes down with a worker is rarely why it went. Where it was, and its own process dies next, or another worker,
    a wait would cost the takeover a second and more for nothing. The limit counts every loss all the same.
    """
    if losses < 2:
        return losses
    lost = StoredEvent.objects.filter(stream=row.pk, kind="slice.lost", data__counted=True).order_by("-seq")
    before = lost.values_list("data__seen", "data__exit_status")[: losses - 1]
    return losses - (loss.whole_worker or any(_whole_worker(seen, status) for seen, status in before))


def back_off(losses: int) -> float:
    """Return the seconds to wait before the next try: none after the first loss at a place, then 1, 2, 4, ..."""
    return 0.0 if losses < 2 else min(2.0 ** (losses - 2), LONGEST_BACK_OFF)


def _lost(row: Task, place: Place, losses: int, loss: Loss) -> SliceLost:
    return SliceLost(
        lost_epoch=row.lease_epoch,
        worker=row.lease_holder,
        seen=loss.seen,
        place=place.name,
        losses=losses,
        counted=loss.counted,
        exit_status=loss.exit_status,
        log_tail=list(loss.log_tail) or None,
    )


def _cleared(row: Task, place: Place, losses: int, pause: float) -> dict[str, Any]:
    changes: dict[str, Any] = {
        "lease_holder": "",
        "lease_nonce": None,
        "lease_until": None,
        "losses": losses,
        "loss_place": place.name,
        "one_by_one": row.one_by_one or place.in_flight > 1,
        "wake_at": After(pause),
    }
    return changes if row.status in KEEP_STATUS else changes | {"status": Status.QUEUED}
