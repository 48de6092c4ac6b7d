"""Doubts with real workers: a worker looks, and the task goes on within a second of the answer."""

import pytest
from django.test import Client

from chaos_app.world.client import World
from tasks_app.models import Call, Event, Task
from tasks_app.services.settle import call_settle
from tasks_app.status import CallState, Status
from tasks_app.workers import workers_alive
from tests.crew import Crew, wait_kind, wait_status
from tests.integration.runtime.conftest import fresh
from tests.processes import wait_for
from tests.records import call_in, new_task, task_set

GOES_ON_WITHIN = 1.0  # seconds, by the database's clock


def held(crew: Crew, tool: str) -> Task:
    """A task with a call in doubt, beside a worker that has run another one.

    What a process does for the first time takes it long: how soon it goes on is asked of one that is at work, and
    likewise of the process that tells it. No sweeper is here: it goes on because of the answer, or never.
    """
    task = new_task(crew.people.workspace, crew.people.rhea, agent="test.free")
    call_in(task, "pay", CallState.IN_DOUBT, tool=tool, effect_class="readable", not_before=-5.0)
    task_set(task, status="in_doubt", wake_at=None)
    crew.worker("w")
    wait_for(lambda: workers_alive().exists(), what="the worker's own word that it lives")
    wait_status(crew.task("one", tool=tool, arguments={"title": fresh()}), Status.COMPLETED)
    return task


def continued_after(task: Task, kind: str) -> float:
    """Return the seconds from the last event of a kind to the claim that followed it."""
    said = Event.objects.filter(stream=task.pk, kind=kind).order_by("seq").last()
    wait_kind(task, "slice.claimed")
    claimed = Event.objects.filter(stream=task.pk, kind="slice.claimed", seq__gt=said.seq).order_by("seq").first()
    return (claimed.at - said.at).total_seconds()


@pytest.mark.parametrize("answer", ["happened", "not_happened", "unknown"])
def test_the_task_goes_on_within_a_second_of_the_answer(crew: Crew, world: World, answer: str) -> None:
    task = held(crew, "c.ticket_readable")
    reference = {"reference": "T-1"} if answer == "happened" else {}
    call_settle(
        workspace=crew.people.workspace,
        task=task.pk,
        name="pay",
        actor="person:silas",
        answer=answer,
        evidence="looked at the bank",
        **reference,
    )
    assert continued_after(task, "call.settled") < GOES_ON_WITHIN


def test_the_button_lets_a_worker_look_and_what_it_saw_lets_the_task_go_on(crew: Crew, world: World) -> None:
    task = held(crew, "c.ticket_readable")
    client = Client()
    client.force_login(crew.people.silas)
    before = Task.objects.get(pk=task.pk).head_seq
    answer = client.post(f"/api/v1/tasks/{task.pk}/calls/pay/look-up")
    assert (answer.status_code, answer.json()) == (202, {"after_seq": before})
    seen = wait_kind(task, "call.observed")
    assert (seen.actor, seen.data["answer"]) == ("person:silas", "absent")
    assert Call.objects.get(task=task).state == "refused"
    assert continued_after(task, "call.observed") < GOES_ON_WITHIN


def test_of_the_same_look_up_sent_twice_the_second_finds_nothing_in_doubt(crew: Crew, world: World) -> None:
    task = held(crew, "c.ticket_readable")
    client = Client()
    client.force_login(crew.people.silas)
    codes = {client.post(f"/tasks/{task.pk}/calls/pay/look-up/").status_code for _ in range(2)}
    assert codes <= {303, 409}
    wait_kind(task, "slice.released")
    assert Event.objects.filter(stream=task.pk, kind="call.observed").count() == 1
