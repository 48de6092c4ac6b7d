"""Leases: the right to run a task until a time, under a fencing token that is new for every acquisition.

Order everywhere: lock the row, then read the database's clock, then compare. No statement that waits for
a row has a time condition in its WHERE: measured, such an update succeeded a second after its lease had ended.

Rejected: renewing only what has not run out. After a restart of the database every lease has run out, nobody
else may take over yet, and a renewal under an unchanged token harms nobody: the token is the fence, not the time.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection, transaction

from core.boundaries import Boundary, Position, cross
from core.clock import ClockTimestamp, database_now
from core.hints import after_commit, live_hint
from core.metrics import takeover_took
from tasks_app import registry, workers
from tasks_app.models import Call, Event, Status, Task, WaitKind
from tasks_app.open_calls import calls_open
from tasks_app.place import IN_FLIGHT, place_of
from tasks_app.record.append import Appended, Token, append
from tasks_app.record.events import After, SliceClaimed, WaitEnded, WaitStarted
from tasks_app.record.events import Event as RecordEvent
from tasks_app.status import TERMINAL
from tasks_app.task_lock import tasks_locked

LIMIT_LOCK = 7204  # advisory lock (this, hash of the agent): claims of one agent are counted one after the other
LIMIT_AGAIN, VERSION_AGAIN = 1.0, 2.0  # seconds until a task over a limit, or without a worker, is looked at again
OUR_WAITS = frozenset({WaitKind.LIMIT, WaitKind.WORKER_VERSION})
KEEP_STATUS = frozenset({Status.PAUSED, Status.CANCELLING})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerIdentity:
    """Who claims: one start of one worker, and the process of it that runs slices."""

    id: UUID
    name: str
    host: str
    pid: int
    code_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A claimed task. ``took_over``: the epoch before it was lost, so open calls are judged by the resume rules."""

    task: UUID
    workspace: UUID
    token: Token
    holder: str
    head_seq: int
    at: datetime
    took_over: bool
    # As this claim left them: the task, its open calls.
    row: Task | None = field(default=None, compare=False, repr=False)
    calls: Sequence[Call] = field(default=(), compare=False, repr=False)


class Renewal(Enum):
    """What became of one lease in a renewal."""

    RENEWED = "renewed"
    LOST = "lost"  # the token is not ours any more, or the task has gone
    BUSY = "busy"  # somebody holds the row right now: try again soon


def lease_claim(*, task: UUID, worker: WorkerIdentity, nonce: UUID | None = None) -> Lease | None:
    """Take the task under a new token, if it is due and nobody holds it.

    None means that there is nothing to do here: no such row (yet), not due, held elsewhere, over its agent's limit
    (it then waits for the limit and says so), or no live worker carries its version. Never a failure of the task:
    the sweeper looks again. ``nonce``: fixed beforehand by a caller whose keeper already watches for it.
    Crosses L01, L02 and L03.
    """
    cross(Boundary.DELIVERED, Position.BEFORE, task=task)
    with transaction.atomic():
        row = _lock_due(task)
        if row is None or not _may_run(row, worker):
            return None
        lease = _claim(row, worker, nonce or uuid4())
        after_commit(lambda: live_hint(stream=task, workspace=lease.workspace, seq=lease.head_seq))
        cross(Boundary.CLAIM, Position.BEFORE, task=task, epoch=lease.token.epoch)
    cross(Boundary.CLAIM, Position.AFTER, task=task, epoch=lease.token.epoch)
    cross(Boundary.CLAIMED, Position.AFTER, task=task, epoch=lease.token.epoch)
    return lease


def _lock_due(task: UUID) -> Task | None:
    # A row that somebody else holds is being claimed or changed; whoever it is wakes the task again if need be.
    # Passing over it, this statement never waits: its clock reading is as good as one after the lock.
    # What a slice reads of its task is read here, once.
    found = tasks_locked(skip_locked=True, of=("self",)).select_related("workspace", "owner").filter(pk=task)
    row = found.annotate(now=ClockTimestamp()).first()
    if row is None or row.status in TERMINAL or row.lease_nonce is not None or row.wake_at is None:
        return None
    return row if row.wake_at <= row.now else None


def _lost_at(row: Task, calls: Sequence[Call]) -> datetime | None:
    """Return when the epoch before was lost; None where there was none, or it let go by itself."""
    if not row.loss_place and not any(call.state in IN_FLIGHT for call in calls):
        return None  # nobody was lost since its last progress, and there is nothing to judge
    ends = Event.objects.filter(stream=row.pk, kind__in=["slice.lost", "slice.released"]).order_by("-seq")
    kind, at = ends.values_list("kind", "at").first() or ("", None)
    return at if kind == "slice.lost" else None


def _may_run(row: Task, worker: WorkerIdentity) -> bool:
    agent = registry.agent_find(row.agent, row.agent_version)
    if agent is None:
        if not workers.version_carried(agent=row.agent, version=row.agent_version):
            wanted = {"agent": row.agent, "version": row.agent_version}
            _put_off(row, worker, WaitKind.WORKER_VERSION, wanted, VERSION_AGAIN)
        return False
    if agent.tasks_at_once is None or row.status in KEEP_STATUS:
        return True
    _count_one_after_the_other(row.agent)
    if Task.objects.filter(agent=row.agent, status=Status.RUNNING).count() < agent.tasks_at_once:
        return True
    _put_off(row, worker, WaitKind.LIMIT, {"agent": row.agent, "tasks_at_once": agent.tasks_at_once}, LIMIT_AGAIN)
    return False


def _count_one_after_the_other(agent: str) -> None:
    """Hold, until the commit, the lock under which this agent's running tasks are counted (row locks come first)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LIMIT_LOCK, agent])


def _put_off(row: Task, worker: WorkerIdentity, kind: WaitKind, on: dict[str, object], seconds: float) -> None:
    if row.wait and row.wait.get("kind") == kind:  # it says so already; only the time of the next look moves
        Task.objects.filter(pk=row.pk).update(wake_at=database_now() + timedelta(seconds=seconds))
        return
    changes: dict[str, object] = {"wake_at": After(seconds), "wait": {"kind": kind.value, "on": on}}
    if row.status not in KEEP_STATUS:
        changes["status"] = Status.WAITING
    event = WaitStarted(kind=kind.value, step=row.step, on=on)
    done = append(stream=row.pk, events=[event], actor=f"worker:{worker.name}", task=changes)
    _hint(row, done)


def _claim(row: Task, worker: WorkerIdentity, nonce: UUID) -> Lease:
    token, calls = Token(epoch=row.lease_epoch + 1, nonce=nonce), list(calls_open(row.pk))
    lost_at = _lost_at(row, calls)
    changes = _taken(worker.name, token)
    if row.status not in KEEP_STATUS:
        changes["status"] = Status.RUNNING
    events = [*_own_wait_over(row), _claimed(row, worker, nonce, calls)]
    done = append(stream=row.pk, events=events, actor=f"worker:{worker.name}", token=token, takes=True, task=changes)
    if lost_at is not None:
        seconds = (done.at - lost_at).total_seconds()
        after_commit(lambda: takeover_took(max(seconds, 0.0)))
    return Lease(
        task=row.pk,
        workspace=row.workspace_id,
        token=token,
        holder=worker.name,
        head_seq=done.head_seq,
        at=done.at,
        took_over=lost_at is not None,
        row=_as_left(row, changes, done),
        calls=calls,
    )


def _taken(holder: str, token: Token) -> dict[str, object]:
    """Return the change of the row that every claim makes."""
    return {
        "lease_holder": holder,
        "lease_epoch": token.epoch,
        "lease_nonce": token.nonce,
        "lease_until": After(settings.LEASE_SECONDS),
        "wake_at": None,
        "wait": None,
    }


def _as_left(row: Task, changes: Mapping[str, object], done: Appended) -> Task:
    for name, value in changes.items():
        setattr(row, name, done.written(value))
    row.head_seq = done.head_seq
    return row


def claim_rehearse() -> None:
    """Have the statement of an ordinary claim prepared: on a task that does not exist. Raises StreamGone."""
    token, nobody = Token(epoch=1, nonce=uuid4()), SliceClaimed(worker="", nonce="", host="", pid=0, place="")
    changes = _taken("", token) | {"status": Status.RUNNING}
    append(stream=uuid4(), events=[nobody], actor="", token=token, takes=True, task=changes)


def _own_wait_over(row: Task) -> list[RecordEvent]:
    """Waits that the runtime began here end here; an agent's own wait is ended by its executor."""
    if row.wait and row.wait.get("kind") in OUR_WAITS:
        return [WaitEnded(kind=row.wait["kind"], why="due")]
    return []


def _claimed(row: Task, worker: WorkerIdentity, nonce: UUID, calls: Sequence[Call]) -> SliceClaimed:
    return SliceClaimed(
        worker=worker.name,
        nonce=str(nonce),
        host=worker.host,
        pid=worker.pid,
        place=place_of(row, calls).name,
        code_digest=worker.code_digest,
    )


def _hint(row: Task, done: Appended) -> None:
    task, workspace, seq = row.pk, row.workspace_id, done.head_seq
    after_commit(lambda: live_hint(stream=task, workspace=workspace, seq=seq))


def lease_renew(*, leases: Collection[tuple[UUID, Token]]) -> dict[UUID, Renewal]:
    """Renew many leases at once; what became of each, by the nonce of its token.

    A locked row is passed over (BUSY) instead of waited for: one long transaction over one task must not
    cost the leases of all others. Raises the database's errors; then nothing is known about any lease.
    """
    wanted = dict(leases)
    with transaction.atomic():
        rows = tasks_locked(skip_locked=True, no_key=True).filter(pk__in=wanted).order_by("pk")
        # As rows: a list of some values would leave out what bounds the transaction.
        held = {row.pk: (row.lease_epoch, row.lease_nonce) for row in rows.only("lease_epoch", "lease_nonce")}
        ours = [pk for pk, token in held.items() if token == (wanted[pk].epoch, wanted[pk].nonce)]
        if ours:
            Task.objects.filter(pk__in=ours).update(lease_until=_lease_end(database_now()))
    there = set(Task.objects.filter(pk__in=wanted.keys() - held.keys()).values_list("pk", flat=True))
    return {token.nonce: _renewal(task in held, task in ours, task in there) for task, token in wanted.items()}


def _renewal(locked: bool, ours: bool, there: bool) -> Renewal:
    if ours:
        return Renewal.RENEWED
    return Renewal.BUSY if there and not locked else Renewal.LOST


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)
