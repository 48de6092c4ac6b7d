"""E07, a batch of which only the first items were applied: keyed items are finished, unkeyed ones are in doubt."""

from collections.abc import Callable

import pytest

from chaos_app.world.client import WorldClient
from tasks_app.models import Call, Event, Task
from tasks_app.services.settle import call_settle
from tasks_app.status import CallState, Status
from tests.integration.runtime.conftest import Rig, fresh
from tests.integration.runtime.test_every_crossing import ENDS

TEXTS = [f"line {n}" for n in range(5)]


def batch(one: Rig, tool: str) -> Task:
    return one.task("case.script", script="one", tool=tool, arguments={"room": fresh(), "texts": TEXTS})


def posted(client: WorldClient, task: Task) -> list[str]:
    """The lines that the room holds, in order, each as often as it is there."""
    room = task.intent["arguments"]["room"]
    return [one["text"] for one in reversed(client.state()["batch"]) if one["room"] == room]


def attempts(task: Task) -> int:
    return Event.objects.filter(stream=task.pk, kind="call.attempted").count()


@pytest.mark.parametrize("applied", [0, 2, 5])
def test_the_rest_of_a_batch_with_a_key_an_item_is_finished(
    applied: int, rig: Callable[[], Rig], client: WorldClient
) -> None:
    one = rig()
    task = batch(one, "c.batch")
    client.arm("batch", "partial", match={"call": f"{task.pk}/act"}, count=applied, answer="cut")
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, posted(client, task), attempts(task)) == (Status.COMPLETED, TEXTS, 2)


def test_a_worker_that_dies_between_the_items_is_followed_by_one_that_posts_the_rest(
    rig: Callable[[], Rig], client: WorldClient
) -> None:
    one = rig()
    one.die_at = ("E04", "after_receive", 1)
    task = batch(one, "c.batch")
    client.arm("batch", "partial", match={"call": f"{task.pk}/act"}, count=3)
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, posted(client, task)) == (Status.COMPLETED, TEXTS)


def test_a_batch_whose_items_carry_no_key_waits_for_a_person_and_is_not_sent_again(
    rig: Callable[[], Rig], client: WorldClient
) -> None:
    one = rig()
    task = batch(one, "c.batch_opaque")
    client.arm("batch", "partial", match={"call": f"{task.pk}/act"}, count=2)
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, posted(client, task), attempts(task)) == (Status.IN_DOUBT, TEXTS[:2], 1)
    call_settle(
        workspace=task.workspace,
        task=task.pk,
        name="act",
        actor="person:silas",
        answer="unknown",
        evidence="two of five lines are there",
    )
    one.run(task, until=lambda t: t.status != Status.QUEUED and t.lease_nonce is None)
    assert (Call.objects.get(task=task).state, attempts(task)) == (CallState.UNKNOWN_SETTLED, 1)
