"""What is watched of tasks and of the machinery itself."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from urllib.parse import urlencode

from django.db.models import BigIntegerField, Count, QuerySet, UUIDField
from django.urls import reverse

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Delivery
from approvals_app.notify.watch import Condition, Watch, few, many
from core.clock import ClockTimestamp
from core.models import Workspace
from tasks_app.models import Call, Status, Task
from tasks_app.status import CallState
from tasks_app.sweeper_row import POOL
from tasks_app.workers import workers_alive

DEAD_FOR = timedelta(days=1)  # how long a message that was given up is an alert


def _unknown() -> QuerySet[Call]:
    return Call.objects.filter(state=CallState.IN_DOUBT).select_related("task")


def _of_unknown(call: Call) -> Condition:
    return Condition(
        key=str(call.pk),
        workspace=call.workspace_id,
        title=f"Outcome unknown: {call.tool} of {call.task.agent}",
        todo="Look outside, then record what happened; the task waits for it.",
        address=reverse("call-doubt", args=[call.task_id, call.pk]),
    )


def _of_stopped(task: Task) -> Condition:
    return _about(
        task,
        title=f"Stopped after {task.losses or 'too many'} lost workers: {task.agent}",
        todo="Read why its workers were lost, then resume or cancel it; it makes no attempt meanwhile.",
    )


def _of_unverified(task: Task) -> Condition:
    return _about(
        task,
        title=f"Says done, check failed: {task.agent}",
        todo="See which evidence is missing, then check again or cancel it.",
    )


def _tasks(status: Status) -> QuerySet[Task]:
    # By workspace, which the index begins with.
    return Task.objects.filter(workspace__in=Workspace.objects.values("pk"), status=status)


def _about(task: Task, *, title: str, todo: str) -> Condition:
    address = reverse("task", args=[task.pk])
    return Condition(key=str(task.pk), workspace=task.workspace_id, title=title, todo=todo, address=address)


def _no_worker() -> Iterator[Condition]:
    if not workers_alive().exclude(pool=POOL).exists():
        todo = "Start one (celery -A core worker); nothing is lost, tasks wait until one lives."
        yield Condition(key="all", title="No worker lives", todo=todo, address=reverse("tasks"))


def _no_sweeper() -> Iterator[Condition]:
    if not workers_alive().filter(pool=POOL).exists():
        todo = "Start one (manage.py sweep); due work, deadlines and takeovers by time wait until one lives."
        yield Condition(key="all", title="No sweeper lives", todo=todo, address=reverse("tasks"))


def _undelivered() -> Iterator[Condition]:
    dead = Delivery.objects.filter(state=DeliveryState.DEAD, ended_at__gt=ClockTimestamp() - DEAD_FOR)
    by_channel = dead.values("channel_id", "channel__name", "workspace_id", "workspace__slug").annotate(n=Count("pk"))
    for row in by_channel.order_by("channel_id"):
        there = {"state": DeliveryState.DEAD, "workspace": row["workspace__slug"]}
        yield Condition(
            key=str(row["channel_id"]),
            workspace=row["workspace_id"],
            title=f"Messages cannot be delivered by the channel {row['channel__name']}",
            todo="Mend the channel, then send them again; what was given up is listed.",
            address=f"{reverse('deliveries')}?{urlencode(there)}",
        )


OUTCOME_UNKNOWN = Watch(
    name="outcome-unknown",
    what="The outcome of a call is unknown",
    find=many(_unknown, _of_unknown, key="pk", of=BigIntegerField()),
)
STOPPED = Watch(
    name="stopped",
    what="A task was stopped after lost workers",
    find=many(partial(_tasks, Status.QUARANTINED), _of_stopped, key="pk", of=UUIDField()),
)
CHECK_FAILED = Watch(
    name="check-failed",
    what="A task says done, but its check failed",
    find=many(partial(_tasks, Status.UNVERIFIED), _of_unverified, key="pk", of=UUIDField()),
)
NO_WORKER = Watch(name="no-worker", what="No worker lives", find=few(_no_worker), holds_for=20.0)
NO_SWEEPER = Watch(name="no-sweeper", what="No sweeper lives", find=few(_no_sweeper), holds_for=20.0)
UNDELIVERED = Watch(name="undelivered", what="A message was given up", find=few(_undelivered))
