"""A tool's answer is lost, late, wrong or missing: exactly once outside, or held for a person by the rule."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chaos_app.world.client import WorldClient
from tasks_app.models import Call, Event
from tasks_app.status import CallState, Status
from tests.integration.runtime.conftest import SEND, Rig, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.outside_tools import LAG, TIMEOUT
from tests.processes import wait_for

SYSTEM = {"keyed": "tickets", "readable": "config", "precondition": "config", "opaque": "payments"}
# What is told to the world, and how many effects it then has of an opaque call that nobody sends again.
FAULTS: dict[str, tuple[dict[str, Any], int]] = {
    "lose_answer": ({}, 1),
    "fail_after": ({}, 1),
    "fail_before": ({}, 0),
    "garbage": ({}, 1),
    "apply_late": ({"seconds": 0.7}, 1),
    "delay": ({"seconds": SEND + TIMEOUT + 0.05}, 1),
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", list(SYSTEM))
def test_an_answer_that_tells_nothing_neither_repeats_nor_loses_the_effect(
    kind: str, rig: Callable[[], Rig], client: WorldClient
) -> None:
    """E03, E04, E06, case-04."""
    wrong = []
    for nth, (fault, (more, opaque)) in enumerate(FAULTS.items()):
        one = rig()
        task = one.task(**intent_of(kind, nth + 10))
        armed = client.arm(SYSTEM[kind], fault, match={"call": f"{task.pk}/act"}, **more)
        one.run(task, until=lambda t: t.status in ENDS, seconds=30)
        assert client.fault(armed.id).fired, fault
        expected = (Status.IN_DOUBT, opaque) if kind == "opaque" else (Status.COMPLETED, 1)
        if kind == "opaque" and opaque:
            wait_for(partial(effects_of, client, task), what="the arrival, maybe late")
        if (task.status, effects_of(client, task)) != expected:
            wrong.append((fault, task.status, effects_of(client, task), kinds(task)))
    assert not wrong, wrong


@pytest.mark.parametrize("kind", list(SYSTEM))
def test_a_definite_refusal_is_no_effect_and_the_agent_reads_why(
    kind: str, rig: Callable[[], Rig], client: WorldClient
) -> None:
    one = rig()
    task = one.task(**intent_of(kind, 0))
    client.arm(SYSTEM[kind], "refuse", match={"call": f"{task.pk}/act"})
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 0)
    assert Call.objects.get(task=task, name="act").state == CallState.REFUSED
    assert kinds(task).count("call.attempted") == 1


def test_every_attempt_of_a_call_carries_one_key_and_is_in_the_record(
    rig: Callable[[], Rig], client: WorldClient
) -> None:
    """S9, case-04: both requests carry the key that was fixed with the call."""
    one = rig()
    task = one.task(**intent_of("keyed", 0))
    client.arm("tickets", "lose_answer", match={"call": f"{task.pk}/act"})
    one.run(task, until=lambda t: t.status in ENDS)
    sent = [a for a in client.ledger(call=f"{task.pk}/act").arrivals if a.acts]
    assert [a.key for a in sent] == [f"hr-{task.pk.hex}-2-0"] * 2
    assert [a.attempt for a in sent] == [1, 2]
    outcomes = Event.objects.filter(stream=task.pk, kind="call.outcome", data__name="act").order_by("seq")
    assert [(e.data["attempt"], e.data["outcome"]) for e in outcomes] == [(1, "unknown"), (2, "ok")]


def test_a_call_that_arrives_after_its_deadline_is_found_and_not_repeated(
    rig: Callable[[], Rig], client: WorldClient
) -> None:
    """E03: nothing is looked up before deadline + lag, so that the late arrival is seen (not deduplicated outside)."""
    one = rig()
    task = one.task(**intent_of("readable", 3))
    late = SEND + TIMEOUT + 0.05
    client.arm("config", "apply_late", match={"call": f"{task.pk}/act"}, seconds=late)
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    call = Call.objects.get(task=task, name="act")
    looked = Event.objects.get(stream=task.pk, kind="call.observed")
    assert call.deadline is not None
    assert (looked.at - call.deadline).total_seconds() >= LAG
    assert looked.data["adopted"]
    assert [a.operation for a in client.ledger(call=f"{task.pk}/act").arrivals if a.acts] == ["change"]
