"""Which Postgres holds this record: a server that is not the one we knew may have lost our last commits (C03).

The system identifier changes with another cluster, the timeline with every promotion and every restore. Where they are
not the stored ones, and while the identity is being reconciled, ``handrail_admission`` refuses every attempt (a worker
may be back before any sweeper); look-ups go on.

What falls short: a call that was intended in commits that the new server never got is not in the record at all. Its
agent decides afresh. The same place in the same step gets the same key, so that a keyed provider recognises it; a
readable or opaque effect of a lost intention, or another decision of the agent, may act anew. Nor is a task found
again that was created in lost commits: its client repeats the request under its key.
"""

from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, transaction

from core.hints import after_commit, live_hint
from core.standstill import StandsStill
from tasks_app.gate import gate
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, CallState, ClusterIdentity, Status, Task
from tasks_app.record.append import CallChange, Seq, append
from tasks_app.record.events import After, CallInDoubt, CallOutcome, Event, SliceLost
from tasks_app.status import OPEN, TERMINAL, EffectClass
from tasks_app.task_lock import tasks_locked
from tasks_app.wake import wake

log = structlog.get_logger(__name__)

ACTOR = "system"
RULE = "C03"
SEEN = "the database is another one, or was set back"
WHY = "The database was set back: this call may have been sent in commits that it lost."
UNSENT = frozenset({CallState.INTENDED, CallState.APPROVED})
NOT_DUE = frozenset({Status.PAUSED, Status.QUARANTINED})


def cluster_check() -> bool:
    """Compare the server at the other end with the stored identity; False if it is another one (attempts then stop).

    Call it after each new connection. The first call ever stores the identity.
    """
    system, timeline = _identity()
    with transaction.atomic():
        locked = ClusterIdentity.objects.select_for_update().annotate(stands_still=StandsStill(settings.LEASE_SECONDS))
        stored, new = locked.get_or_create(pk=1, defaults={"system_identifier": system, "timeline": timeline})
        if new or (stored.system_identifier, stored.timeline) == (system, timeline):
            return True
        ClusterIdentity.objects.filter(pk=1).update(system_identifier=system, timeline=timeline, reconciling=True)
    log.warning("cluster_changed", system=system, timeline=timeline, before=stored.timeline)
    return False


def _identity() -> tuple[str, int]:
    with connection.cursor() as cursor:
        # The name of the segment being written begins with the timeline, also before the first checkpoint on it.
        cursor.execute(
            "SELECT system_identifier::text, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()"
        )
        system, timeline = cursor.fetchone()
    return str(system), int(timeline, 16)


def cluster_reconcile_if_needed() -> int:
    """Reconcile if an identity waits for it (a sweeper's finder); returns the number of tasks looked at."""
    if not ClusterIdentity.objects.filter(pk=1, reconciling=True).exists():
        return 0
    return cluster_reconcile()


def cluster_reconcile() -> int:
    """Have every open call judged as taken over; then let attempts go on.

    Keyed calls go on under their keys. Readable ones that seem unsent are looked up before anything is sent. Opaque
    ones, and readable ones that still wait for a person here, are in doubt, and their approvals void.
    Task by task, so that a sweeper that dies half-way begins again without harm. Returns the number of tasks.
    Of several sweepers the first to be through lets attempts go on; from then on no other judges anything.
    """
    tasks = list(Task.objects.filter(calls__state__in=OPEN).exclude(status__in=TERMINAL).distinct().values_list("pk"))
    for done, (task,) in enumerate(tasks):
        if not _reconcile(task):
            return done
    ClusterIdentity.objects.filter(pk=1).update(reconciling=False)
    log.warning("cluster_reconciled", tasks=len(tasks))
    return len(tasks)


def _reconcile(task: UUID) -> bool:
    """Judge a task's open calls; False where another sweeper has let attempts go on: what is open now is live work."""
    with transaction.atomic():
        row = tasks_locked().get(pk=task)
        # Locked until the judgement is committed: whoever lets attempts go on does so before it, or after it.
        if not ClusterIdentity.objects.select_for_update().filter(pk=1, reconciling=True).first():
            return False
        if row.status in TERMINAL:
            return True
        calls = list(Call.objects.filter(task=row, state__in=OPEN).exclude(state=CallState.IN_DOUBT).order_by("pk"))
        events, changes = _judged(calls)
        doubted = frozenset(change.name for change in changes if change.set["state"] == CallState.IN_DOUBT)
        voided = gate().void(task=task, names=doubted, reason=WHY) if doubted else ()
        events = [*events, *voided]
        if row.lease_nonce is not None:
            lease_lose(task=task, nonce=row.lease_nonce, loss=Loss(seen=SEEN, counted=False), actor=ACTOR)
        else:
            events = [*events, _lost_without_lease(row)]
        due: dict[str, object] = {} if row.status in NOT_DUE else {"wake_at": After(0)}
        if voided and row.status == Status.WAITING:
            due |= {"status": Status.QUEUED, "wait": None}  # what it waited for will not come
        done = append(stream=task, events=events, actor=ACTOR, calls=changes, task=due) if events else None
        if done is not None:
            after_commit(lambda: live_hint(stream=task, workspace=row.workspace_id, seq=done.head_seq))
            wake(task)
        return True


def _judged(calls: list[Call]) -> tuple[list[Event], list[CallChange]]:
    events: list[Event] = []
    changes: list[CallChange] = []
    for call in calls:
        if call.effect_class == EffectClass.OPAQUE or (
            call.effect_class == EffectClass.READABLE and call.state == CallState.ASKED
        ):
            event: Event = CallInDoubt(name=call.name, rule=RULE, reason=WHY, check="Look in the outside system.")
            values: dict[str, object] = {"state": CallState.IN_DOUBT, "maybe_applied": True}
        elif call.effect_class == EffectClass.READABLE and call.state in UNSENT:
            why = {"code": RULE, "reason": WHY}
            event = CallOutcome(name=call.name, attempt=call.attempts, outcome="unknown", error=why)
            values = {"state": CallState.UNKNOWN, "maybe_applied": True}
            values |= {"answer_seq": Seq(len(events) + 1), "look_ups": 0}
        else:  # the ordinary rules do: the same key again, a look-up, a read-back
            continue
        events.append(event)
        changes.append(CallChange(name=call.name, set=values))
    return events, changes


def _lost_without_lease(row: Task) -> SliceLost:
    """Say it as a loss: the next slice then judges open calls as after any takeover."""
    return SliceLost(
        lost_epoch=row.lease_epoch, worker="", seen=SEEN, place=row.loss_place, losses=row.losses, counted=False
    )
