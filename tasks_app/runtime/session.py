"""One slice's hold on one task: its lease, the rows as this worker knows them, and its only append queue.

Events that may ride (commit C of a chain, the outcome of a call without effect) wait in ``later`` and go
with the next commit. A commit whose answer was never seen is looked up in the record, never repeated
blindly (E01, E05, C01: kept or dropped).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Model

from core.boundaries import Boundary, Position, cross
from core.clock import database_now
from core.hints import live_hint, progress_hint
from tasks_app.keeper.client import KeeperClient
from tasks_app.leases import Lease
from tasks_app.models import Call, Task
from tasks_app.models import Event as EventRow
from tasks_app.open_calls import calls_open
from tasks_app.record.append import Admission, Appended, CallChange, Seq, Stale, append
from tasks_app.record.events import After, CallResumeDecided, Event
from tasks_app.record.late import late_keep
from tasks_app.runtime.batch import Batch, Inside
from tasks_app.runtime.selection import Last
from tasks_app.status import OPEN, Status
from tasks_app.task_lock import tasks_locked

log = structlog.get_logger(__name__)

# How long a held answer is kept for a database that is away (seconds).
OUTAGE_SECONDS = 120.0


class LeaseLost(Exception):
    """The task is not ours any more: stop, write nothing more."""


class Session:
    """The state of one slice. Not shared between threads: parallel calls hand their outcomes to its owner."""

    def __init__(self, *, lease: Lease, keeper: KeeperClient, drain: Callable[[], bool]) -> None:
        self.lease, self.keeper, self.drain = lease, keeper, drain
        self.actor = f"worker:{lease.holder}"
        self.pending = Batch()
        self.started = self.spent_from = time.monotonic()
        self.stopped = ""  # the admission's last reason not to attempt
        self.thoughtful = False  # the agent took long over its last decision
        self.refreshes = 0  # how often the rows were read: what was remembered of them before is old
        self.added: set[str] = set()  # names of calls that this slice has added since
        self.over = False  # this slice has let go of the task
        self.unwritten: dict[str, dict[str, Any]] = {}  # what the agent may read of calls whose events still ride
        self.selection: Last | None = None  # what a model was shown last, once it is known
        self.resumed: set[str] = set()  # calls whose resume rule this epoch has recorded
        self._read(lease.row, lease.calls)
        self.checkpointed = self.task.checkpoint_step

    def refresh(self) -> None:
        """Read the task row and its open calls again: somebody else appended."""
        self._read(None, ())

    def _read(self, row: Task | None, calls: Sequence[Call]) -> None:
        """Take the task row and its open calls as the claim has just left them, or read them."""
        if row is None:
            row = Task.objects.select_related("workspace", "owner").get(pk=self.lease.task)
            calls = list(calls_open(row.pk))
        self.task = row
        self.head = self.task.head_seq
        self.refreshes += 1
        self.added.clear()
        self.open = {call.name: call for call in calls}
        self._revise()

    def _revise(self) -> None:
        """Apply what rides to the rows that were read; what somebody else has overtaken rides no more."""
        for event in [one for one in self.pending.events if isinstance(one, CallResumeDecided)]:
            row = self.open.get(event.name)
            if row is None or (row.state, row.attempts) != (event.seen["state"], event.seen["attempts"]):
                self.pending.drop(event)
                self.resumed.discard(event.name)
        for name, change in list(self.pending.calls.items()):
            if name in self.open:
                self._apply(self.open[name], change.set, None)
                self.settled_later(name)
            else:  # settled by somebody else: the answer that rides is told, and changes nothing
                del self.pending.calls[name]
                self.unwritten.pop(name, None)

    def unwritten_answer(self, name: str, **values: Any) -> None:
        """Remember what the agent may read of a call whose last events still ride: state, answer, reference."""
        self.unwritten[name] = {**self.unwritten.get(name, {}), **values}

    def settled_later(self, name: str) -> None:
        """Drop a call from the open ones once its pending change settles it."""
        if name in self.open and self.open[name].state not in OPEN:
            del self.open[name]

    @property
    def status(self) -> Status:
        """The task's status as last seen."""
        return Status(self.task.status)

    def later(
        self, events: Sequence[Event], *, task: Mapping[str, Any] | None = None, calls: Sequence[CallChange] = ()
    ) -> None:
        """Let events ride in the next commit; their row changes show in this slice at once."""
        self.pending.add(events, task=task, calls=calls)
        for change in calls:
            if change.name in self.open:
                self._apply(self.open[change.name], change.set, None)

    def commit(
        self,
        events: Sequence[Event],
        *,
        boundary: Boundary,
        task: Mapping[str, Any] | None = None,
        calls: Sequence[CallChange] = (),
        admission: Admission | None = None,
        inside: Callable[[], Inside] | None = None,
        call: str | None = None,
    ) -> Appended:
        """Append what is pending and ``events`` in one commit.

        ``inside`` runs first in the same transaction, with the task row locked (T1, approval requests, children).
        Raises ``LeaseLost`` where the task is another's or has ended (what it held is kept apart), or ``Stale``
        where the append was refused for another reason than our token (moved: refresh and think again).
        """
        self._cross(boundary, Position.BEFORE, call)
        batch = Batch()
        batch.add(self.pending.events, task=self.pending.task, calls=list(self.pending.calls.values()))
        until = time.monotonic()
        batch.add(events, task={**(task or {}), "spent": self._spent(task or {}, until)}, calls=calls)
        try:
            sent, done = self._through_outages(batch, len(self.pending.events), admission, inside)
        except Stale as stale:
            if stale.fenced or stale.refusal == "ended":  # ended without us: cancelled, or by whoever took over
                self.abandon(batch.events)
            raise
        self.pending, self.unwritten, self.spent_from = Batch(), {}, until
        self._remember(sent, done)
        self._cross(boundary, Position.AFTER, call)
        live_hint(stream=self.lease.task, workspace=self.lease.workspace, seq=done.head_seq)
        return done

    def _cross(self, boundary: Boundary, position: Position, call: str | None) -> None:
        cross(boundary, position, task=self.lease.task, call=call, epoch=self.lease.token.epoch)

    def commit_again(self, make: Callable[[], tuple[Sequence[Event], dict[str, Any]]], **more: Any) -> Appended:
        """Commit what ``make`` returns (events, keyword arguments); refresh and make it anew when others appended."""
        while True:
            events, kwargs = make()
            try:
                return self.commit(events, **kwargs, **more)
            except Stale as stale:
                if stale.refusal != "moved":
                    raise
                self.refresh()

    def abandon(self, events: Sequence[Event]) -> None:
        """Keep what a lost worker holds: answers as late receipts, the rest as late writes. Raises LeaseLost."""
        late_keep(stream=self.lease.task, events=events, actor=self.actor, token=self.lease.token)
        self.pending = Batch()  # kept once
        raise LeaseLost

    def lost(self) -> bool:
        """Whether the keeper was told that the task is not ours any more."""
        return self.keeper.lost(self.lease)

    def progress(self, text: str) -> None:
        """Show effect-free progress live ("thinking, 42 s"); it is not recorded."""
        progress_hint(stream=self.lease.task, text=text[:300])

    def _spent(self, task: Mapping[str, Any], until: float) -> dict[str, Any]:
        """Return the counters with the seconds since the last commit, thinking included (budgets survive a resume)."""
        spent = {**self.task.spent, **task.get("spent", {})}
        return {**spent, "seconds": round(self.task.spent.get("seconds", 0.0) + until - self.spent_from, 3)}

    def _through_outages(
        self, batch: Batch, shift: int, admission: Admission | None, inside: Callable[[], Inside] | None
    ) -> tuple[Batch, Appended]:
        started = time.monotonic()
        give_up = started + OUTAGE_SECONDS
        sent, unanswered = batch, False
        while True:
            try:
                if inside is None:
                    return batch, self._append(batch, admission)
                with transaction.atomic():
                    # What is added may touch other rows (a request, a child): only while the task is as we know it.
                    sent = batch.with_added(inside(), shift) if self._locked_as_known(batch) else batch
                    done = self._append(sent, admission)
                return sent, done
            except Stale as stale:
                # A try that was given up may have been carried out after we had looked: what moved it is ours.
                landed = self._landed(give_up) if unanswered and stale.refusal == "moved" else None
                if landed:
                    return sent, landed
                # Run out, but nobody has taken over: after an outage the keeper renews it, or a takeover fences us.
                renewed_by = min(give_up, started + settings.LEASE_SECONDS + 2)
                if stale.refusal != "expired" or self.lost() or time.monotonic() > renewed_by:
                    raise
                time.sleep(0.05)
            except (OperationalError, InterfaceError) as error:
                if connection.in_atomic_block or time.monotonic() > give_up:
                    raise
                log.warning(
                    "append_unanswered", task_id=str(self.lease.task), seq=self.head + 1, error=str(error)[:200]
                )
                unanswered = True
                landed = self._landed(give_up)
                if landed:
                    return sent, landed

    def _locked_as_known(self, batch: Batch) -> bool:
        """Lock the task row; whether it is where this slice left it. If not, the append says in which way (L05)."""
        row = tasks_locked().only("lease_epoch", "lease_nonce", "head_seq", "status").get(pk=self.lease.task)
        held = self.lease.token
        ours = (row.lease_epoch, row.lease_nonce) == (held.epoch, held.nonce)
        known = ours and row.head_seq == self.head
        if not known and not batch.events:  # nothing to append that would say so
            raise Stale(
                refusal="moved" if ours else "fenced",
                head_seq=row.head_seq,
                task_status=row.status,
                held_epoch=row.lease_epoch,
                at=database_now(),
            )
        return known

    def _append(self, batch: Batch, admission: Admission | None) -> Appended:
        return append(
            stream=self.lease.task,
            events=batch.events,
            actor=self.actor,
            token=self.lease.token,
            expected=self.head,
            task=batch.task,
            calls=list(batch.calls.values()),
            admission=admission,
        )

    def _landed(self, give_up: float) -> Appended | None:
        """After an unanswered append: did it land? Ours is the only worker that writes under this epoch."""
        pause = 0.05
        while time.monotonic() < give_up:
            connection.close()
            try:
                rows = EventRow.objects.filter(stream=self.lease.task, epoch=self.lease.token.epoch)
                row = rows.filter(seq=self.head + 1).first()
                if row is None:
                    return None
                last = rows.filter(seq__gt=self.head, at=row.at).order_by("seq").last()  # one append, one time
                return Appended(head_seq=(last or row).seq, first_seq=row.seq, at=row.at)
            except (OperationalError, InterfaceError):
                time.sleep(pause)
                pause = min(pause * 2, 1.0)
        return None

    def _remember(self, batch: Batch, done: Appended) -> None:
        self._apply(self.task, batch.task, done)
        self.head = self.task.head_seq = done.head_seq
        for name, change in batch.calls.items():
            if change.new:
                self.added.add(name)
            row = self.open.get(name)
            if row is None:
                if change.set.get("state") not in OPEN:
                    continue  # settled already while its events rode
                known = {"name": name, "task_id": self.lease.task, **change.set}
                row = Call(**{column: done.written(value) for column, value in known.items()})
            else:
                self._apply(row, change.set, done)
            if row.state in OPEN:
                self.open[name] = row
            else:
                self.open.pop(name, None)

    @staticmethod
    def _apply(row: Model, values: Mapping[str, Any], done: Appended | None) -> None:
        for name, value in values.items():
            if done or not isinstance(value, After | Seq):
                setattr(row, name, done.written(value) if done else value)
