"""Which attempts take a place under a limit of calls at once: those that may still act, whoever holds their task."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from chaos_app.world.client import WorldClient
from core.clock import ClockTimestamp
from tasks_app.models import Call, Task
from tasks_app.services.steer import task_pause
from tasks_app.status import CallState, Status
from tests.integration.runtime.conftest import Rig, fresh
from tests.integration.runtime.test_every_crossing import effects_of

Rigs = Callable[[], Rig]
LIMITS = pytest.mark.parametrize(
    ("agent", "tool"), [("case.script", "c.ticket_limited"), ("case.quiet", "t.ticket")], ids=["tool", "agent"]
)


def opening(one: Rig, agent: str, tool: str) -> Task:
    return one.task(agent, script="one", tool=tool, arguments={"title": fresh()})


def in_flight(one: Rig, task: Task, *, deadline: float) -> None:
    """Let its worker die between the attempt and its outcome; the attempt's deadline is so many seconds from now."""
    one.die_at, one.died, one.seen = ("E02", "before_send", 1), False, []
    one.slice(task)
    assert one.died
    Call.objects.filter(task=task).update(deadline=ClockTimestamp() + timedelta(seconds=deadline))


def left_to_a_person(task: Task, status: Status) -> None:
    if status == Status.PAUSED:
        task_pause(workspace=task.workspace, task=task.pk, actor="person:silas", reason="a look")
    else:
        Task.objects.filter(pk=task.pk).update(status=status, wake_at=None)


def waits_for(one: Rig, task: Task) -> str:
    one.slice(task)
    task.refresh_from_db()
    return str((task.wait or {}).get("kind"))


@LIMITS
@pytest.mark.parametrize("status", [Status.QUARANTINED, Status.PAUSED])
def test_a_task_that_waits_for_a_person_keeps_no_place_once_its_attempt_is_over(
    status: Status, agent: str, tool: str, rig: Rigs, client: WorldClient
) -> None:
    one = rig()
    left, task = opening(one, agent, tool), opening(one, agent, tool)
    in_flight(one, left, deadline=60)
    left_to_a_person(left, status)
    assert waits_for(one, task) == "limit"
    Call.objects.filter(task=left).update(deadline=ClockTimestamp() - timedelta(seconds=2))
    one.run(task, until=lambda t: t.status == Status.COMPLETED)
    assert [effects_of(client, each) for each in (left, task)] == [0, 1]


@LIMITS
def test_a_call_that_is_sent_again_takes_a_place_as_any_other(
    agent: str, tool: str, rig: Rigs, client: WorldClient
) -> None:
    """Its own earlier attempt is over; another's is in flight meanwhile."""
    one = rig()
    again, busy = opening(one, agent, tool), opening(one, agent, tool)
    in_flight(one, again, deadline=-2)
    in_flight(one, busy, deadline=60)
    assert waits_for(one, again) == "limit"
    for task in (busy, again):  # the attempt in flight is not in its own way
        one.run(task, until=lambda t: t.status == Status.COMPLETED)
        assert effects_of(client, task) == 1


def test_long_work_keeps_its_place_however_long_it_runs(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    work, task = (opening(one, "case.script", "c.ticket_limited") for _ in range(2))
    in_flight(one, work, deadline=-60)
    Call.objects.filter(task=work).update(state=CallState.STARTED)
    assert waits_for(one, task) == "limit"
