"""A death at every place that a run passes, for each effect class: the outside holds each effect exactly once."""

from collections.abc import Callable
from typing import Any

import pytest

from chaos_app.world.client import WorldClient
from tasks_app.models import Call, Task
from tasks_app.status import CallState, Status
from tests.integration.runtime.conftest import Cross, Rig, fresh, kinds

ENDS = {Status.COMPLETED, Status.IN_DOUBT, Status.QUARANTINED, Status.UNVERIFIED, Status.FAILED}
# Between "attempted" and "outcome known" nothing makes an opaque effect exactly once: held for a person.
HELD_ALLOWED = {"opaque"}


def intent_of(kind: str, nth: int) -> dict[str, Any]:
    return {
        "kind": kind,
        "title": fresh(),
        "service": "checkout-api",
        "setting": "database.pool_size",
        "value": 41 + nth,
    }


def effects_of(client: WorldClient, task: Task) -> int:
    return sum(1 for e in client.effects() if (e.call or "").startswith(str(task.pk)))


def crossings(rig: Rig, kind: str) -> list[Cross]:
    task = rig.run(rig.task(**intent_of(kind, 0)), until=lambda t: t.status in ENDS)
    assert task.status == Status.COMPLETED, kinds(task)
    return list(rig.seen)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["none", "keyed", "readable", "precondition", "opaque"])
def test_a_death_at_any_crossing_repeats_and_loses_nothing(
    kind: str, rig: Callable[[], Rig], client: WorldClient
) -> None:
    found = crossings(rig(), kind)
    assert len(found) > 10
    wrong = []
    for nth, at in enumerate(found):
        one = rig()
        one.die_at = at
        task = one.run(one.task(**intent_of(kind, nth + 1)), until=lambda t: t.status in ENDS)
        assert one.died, f"the fault never happened at {at}"
        count = effects_of(client, task)
        held = kind in HELD_ALLOWED and task.status == Status.IN_DOUBT and count <= 1
        expected = 0 if kind == "none" else 1
        if not held and (task.status != Status.COMPLETED or count != expected):
            wrong.append((at, task.status, count, kinds(task)))
    assert not wrong, wrong


@pytest.mark.parametrize("boundary", ["E02", "E05"])
def test_an_opaque_call_stops_for_a_person_whether_or_not_it_was_sent(
    boundary: str, rig: Callable[[], Rig], client: WorldClient
) -> None:
    """case-01 at kill-2 and kill-3: the record looks the same, and so must what follows."""
    one = rig()
    one.die_at = (boundary, "before_send" if boundary == "E02" else "before", 2 if boundary == "E02" else 1)
    task = one.run(one.task(**intent_of("opaque", 0)), until=lambda t: t.status in ENDS)
    assert one.died
    assert task.status == Status.IN_DOUBT
    assert Call.objects.get(task=task, name="act").state == CallState.IN_DOUBT
    assert effects_of(client, task) == (0 if boundary == "E02" else 1)
