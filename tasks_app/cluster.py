"""Which Postgres holds this record: a server that is not the one we knew may have lost our last commits (C03).

The system identifier changes with another cluster, the timeline with every promotion and every restore. While the
identity is being reconciled, ``handrail_admission`` refuses every attempt; look-ups go on.

What falls short: a call that was intended and attempted in commits that the new server never got is not in the
record at all. Its agent decides afresh; the same name at the same step gets the same key, so a keyed provider
recognises it and a readable one is looked up first, but an agent that now decides otherwise may act anew.
"""

from uuid import UUID

import structlog
from django.db import connection, transaction

from core.hints import after_commit, live_hint
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, CallState, ClusterIdentity, Task
from tasks_app.record.append import CallChange, append
from tasks_app.record.events import CallInDoubt, CallResumeDecided, Event, SliceLost
from tasks_app.status import OPEN, TERMINAL, EffectClass

log = structlog.get_logger(__name__)

ACTOR = "system"
RULE = "C03"
SEEN = "the database is another one, or was set back"


def cluster_check() -> bool:
    """Compare the server at the other end with the stored identity; False if it is another one (attempts then stop).

    Call it after each new connection. The first call ever stores the identity.
    """
    system, timeline = _identity()
    with transaction.atomic():
        stored, new = ClusterIdentity.objects.select_for_update().get_or_create(
            pk=1, defaults={"system_identifier": system, "timeline": timeline}
        )
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
    """Make every open call be judged as taken over, the opaque ones in doubt; then let attempts go on.

    Task by task, so that a sweeper that dies half-way begins again without harm. Returns the number of tasks.
    """
    tasks = list(Task.objects.filter(calls__state__in=OPEN).exclude(status__in=TERMINAL).distinct().values_list("pk"))
    for (task,) in tasks:
        _reconcile(task)
    ClusterIdentity.objects.filter(pk=1).update(reconciling=False)
    log.warning("cluster_reconciled", tasks=len(tasks))
    return len(tasks)


def _reconcile(task: UUID) -> None:
    with transaction.atomic():
        row = Task.objects.select_for_update().get(pk=task)
        if row.status in TERMINAL:
            return
        events: list[Event] = []
        changes: list[CallChange] = []
        for call in Call.objects.filter(task=row, state__in=OPEN).exclude(state=CallState.IN_DOUBT):
            event, change = _judge(call)
            events.append(event)
            changes.append(change)
        if not events:
            return
        if row.lease_nonce is not None:
            lease_lose(task=task, nonce=row.lease_nonce, loss=Loss(seen=SEEN, counted=False), actor=ACTOR)
        else:
            events.insert(0, _lost_without_lease(row))
        done = append(stream=task, events=events, actor=ACTOR, calls=changes)
        after_commit(lambda: live_hint(stream=task, workspace=row.workspace_id, seq=done.head_seq))


def _judge(call: Call) -> tuple[Event, CallChange]:
    if call.effect_class == EffectClass.OPAQUE:
        why = "The database was set back; whether this call was sent meanwhile cannot be found out by machine."
        event = CallInDoubt(name=call.name, rule=RULE, reason=why, check="Look in the outside system.")
        return event, CallChange(name=call.name, set={"state": CallState.IN_DOUBT, "maybe_applied": True})
    decided = CallResumeDecided(
        name=call.name,
        rule=RULE,
        move="look first",
        effect_class=call.effect_class,
        reason="The database was set back; this call may have been sent meanwhile.",
        seen={"state": call.state},
    )
    return decided, CallChange(name=call.name, set={"look_first": True, "maybe_applied": True})


def _lost_without_lease(row: Task) -> SliceLost:
    """Say it as a loss: the next slice then judges open calls as after any takeover."""
    return SliceLost(
        lost_epoch=row.lease_epoch, worker="", seen=SEEN, place=row.loss_place, losses=row.losses, counted=False
    )
