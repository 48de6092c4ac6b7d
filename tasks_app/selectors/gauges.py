"""What an operator watches of the whole installation: tasks, calls in doubt, workers, messages that wait."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Count, Min, Q

from core.clock import ClockTimestamp, database_now
from core.figures import Figure, number
from tasks_app.models import Call, CallState, ClusterIdentity, LateWrite, Status, StopSwitch, Task, Worker
from tasks_app.status import ATTEMPT_OPEN
from tasks_app.sweeper_row import POOL
from tasks_app.wake import wake_ups_waiting
from tasks_app.workers import workers_alive


def gauges() -> Iterator[Figure]:
    """Return the figures as they are now. Raises the database's errors."""
    yield from _tasks()
    yield from _calls()
    yield from _processes()
    waiting = wake_ups_waiting()
    yield number("handrail_broker_up", "Whether the broker answered this question.", waiting is not None)
    if waiting is not None:
        yield number("handrail_wake_ups_waiting", "Messages to workers that none has taken.", waiting)


def seconds_since(moment: datetime | None, now: datetime) -> float:
    """Return how long ago a moment was; 0 for none, and for one that is still to come."""
    return max((now - moment).total_seconds(), 0.0) if moment else 0.0


def _tasks() -> Iterator[Figure]:
    counted: dict[str, float] = dict.fromkeys((status.value for status in Status), 0.0)
    counted |= dict(Task.objects.order_by().values_list("status").annotate(Count("pk")))
    yield _labelled("handrail_tasks", "Tasks by state.", "state", counted)
    waits = Task.objects.filter(status=Status.WAITING).order_by().values_list("wait__kind").annotate(Count("pk"))
    yield _labelled("handrail_tasks_waiting", "Waiting tasks by what for.", "kind", dict(waits))
    now = database_now()
    due = Task.objects.filter(wake_at__lte=now, lease_nonce=None).aggregate(n=Count("pk"), first=Min("wake_at"))
    yield number("handrail_tasks_due", "Tasks that are due and that no worker has taken.", due["n"])
    yield number("handrail_tasks_due_seconds", "How long the first of them is due.", seconds_since(due["first"], now))
    late = Task.objects.filter(lease_nonce__isnull=False, lease_until__lt=now).count()
    yield number("handrail_leases_run_out", "Leases that ran out and that no sweeper has ended.", late)


def _calls() -> Iterator[Figure]:
    open_calls = Call.objects.filter(state__in=sorted(ATTEMPT_OPEN))
    counted = dict(open_calls.order_by().values_list("state").annotate(Count("pk")))
    yield number("handrail_calls_in_doubt", "Calls that a person must settle.", counted.get(CallState.IN_DOUBT, 0))
    yield _labelled("handrail_calls_open", "Calls that may act outside, by state.", "state", counted)
    yield number("handrail_late_writes", "Writes of lost workers that were refused.", LateWrite.objects.count())
    stops = dict(StopSwitch.objects.order_by().values_list("scope").annotate(Count("pk")))
    yield _labelled("handrail_stops", "Stops that are set, by scope.", "scope", stops)
    waits = ClusterIdentity.objects.filter(reconciling=True).exists()
    yield number("handrail_reconciling", "1 while attempts wait because the database was set back.", waits)


def _processes() -> Iterator[Figure]:
    alive = list(workers_alive())
    workers = [worker for worker in alive if worker.pool != POOL]
    names = Counter("draining" if worker.draining else "working" for worker in workers)
    yield _labelled("handrail_workers", "Workers seen within a lease.", "state", names, {"working", "draining"})
    # A keeper writes its worker's row each second, so a fresh row is a living keeper.
    yield number("handrail_keepers", "Keepers seen within a lease.", sum(bool(w.keeper_pid) for w in workers))
    yield number("handrail_sweepers", "Sweepers seen within a lease.", len(alive) - len(workers))
    gone = Worker.objects.filter(~Q(pool=POOL), seen_at__lte=ClockTimestamp()).exclude(
        pk__in=[worker.pk for worker in workers]
    )
    yield number("handrail_workers_gone", "Workers of the last week that are not seen any more.", gone.count())


def _labelled(
    name: str, help_: str, label: str, counted: dict[str, float] | Counter[str], known: Iterable[str] = ()
) -> Figure:
    every = {**dict.fromkeys(known, 0), **counted}
    values: dict[tuple[str, ...], float] = {(str(value),): float(count) for value, count in every.items()}
    return Figure(name=name, help=help_, labels=(label,), values=values)
