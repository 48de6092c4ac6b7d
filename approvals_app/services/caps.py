"""A runaway must not bury the desk: open requests are capped per task and per agent; who is over it waits."""

from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus
from core.clock import ClockTimestamp
from tasks_app.gate import OVER_CAP, STOPPED
from tasks_app.models import StopSwitch, Task
from tasks_app.services.stops import STOP_LOCK
from tasks_app.status import Status, WaitKind

CAP_LOCK = 7202  # with the agent's hash: requests of one agent are counted one after the other


def cap_check(*, task: Task) -> str:
    """Say which cap one more request of this task would pass, or an empty text. The task's row is locked.

    The sentence begins with ``OVER_CAP``: the runtime lets the task wait and asks again by itself. So it does while
    the agent is stopped: "deny all and pause this agent" must not be followed by the next card. Its stop waits for
    whoever was here before it, so that the act finds their cards; whoever comes here after it sees it.
    """
    with connection.cursor() as cursor:
        # In the order of an attempt: the stop's first. Read later, after both, are the stop and what waits.
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(%s), pg_advisory_xact_lock(%s, hashtext(%s))",
            [STOP_LOCK, CAP_LOCK, f"{task.workspace_id}/{task.agent}"],
        )
    if StopSwitch.objects.filter(scope="agent", workspace=task.workspace_id, name=task.agent).exists():
        return f"{STOPPED} {task.agent}"
    waiting = ApprovalRequest.objects.filter(status=ApprovalStatus.REQUESTED)
    of_task = waiting.filter(task=task).count()
    if of_task >= settings.HANDRAIL_APPROVALS_PER_TASK:
        return f"{OVER_CAP}: {of_task} of this task wait"
    of_agent = waiting.filter(workspace=task.workspace_id, agent=task.agent).count()
    if of_agent >= settings.HANDRAIL_APPROVALS_PER_AGENT:
        return f"{OVER_CAP}: {of_agent} of agent {task.agent} wait"
    return ""


def capped_wake() -> int:
    """Make due the tasks whose agent is under its cap again; return how many. For the sweeper."""
    waiting = Task.objects.filter(
        status=Status.WAITING,
        wait__kind=WaitKind.LIMIT,
        wait__on__startswith=OVER_CAP,
        wait__on__icontains=" of agent ",  # a task over its own cap is woken by the answers to its own requests
        wake_at__gt=ClockTimestamp(),
    )
    agents = waiting.order_by("workspace_id", "agent").values_list("workspace_id", "agent").distinct()
    return sum(_wake_some(waiting, workspace, agent) for workspace, agent in agents)


def _wake_some(waiting: QuerySet[Task], workspace: UUID, agent: str) -> int:
    alike = ApprovalRequest.objects.filter(workspace=workspace, agent=agent, status=ApprovalStatus.REQUESTED)
    room = settings.HANDRAIL_APPROVALS_PER_AGENT - alike.count()
    due = waiting.filter(workspace=workspace, agent=agent).order_by("pk").values_list("pk", flat=True)[: max(room, 0)]
    # A worker may hold one by now: then it waits no more, and no row is changed.
    return sum(waiting.filter(pk=task).update(wake_at=ClockTimestamp()) for task in due)
