"""The world contradicts what was answered, has moved on, or works for long."""

from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from chaos_app.world.client import WorldClient
from tasks_app import registry
from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, call, complete
from tasks_app.models import Call, Event, Task
from tasks_app.registry import Agent, agent_register
from tasks_app.status import CallState, Status
from tasks_app.view import TaskView
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of
from tests.scripts import script

Rigs = Callable[[], Rig]


def one_call(one: Rig, tool: str, **arguments: object) -> Task:
    return one.task("case.script", script="one", title=fresh(), tool=tool, arguments=arguments)


def doubt_of(task: Task) -> dict[str, object]:
    return dict(Event.objects.get(stream=task.pk, kind="call.in_doubt").data)


def test_a_second_entry_outside_is_in_doubt_with_the_difference_shown(rig: Rigs, client: WorldClient) -> None:
    """E10: two where one was answered; never mended silently."""
    one = rig()
    task = one_call(one, "c.ticket_counted", title=fresh())
    client.arm("tickets", "plant", match={"call": f"{task.pk}/act"})
    one.run(task, until=lambda t: t.status in ENDS)
    doubt = doubt_of(task)
    assert (task.status, doubt["rule"]) == (Status.IN_DOUBT, "E10")
    assert len(doubt["difference"]["seen"]) == 2  # type: ignore[index]
    assert "call.verified" not in kinds(task)
    assert len([e for e in client.effects(call=f"{task.pk}/act") if not e.planted]) == 1


def test_a_look_up_that_sees_nothing_does_not_repeat_a_keyed_act(rig: Rigs, client: WorldClient) -> None:
    """E09, E10: hidden from the look-up, the resend goes under the same key."""
    one = rig()
    task = one_call(one, "c.ticket_readable", title=fresh())
    client.arm("tickets", "lose_answer", match={"call": f"{task.pk}/act"})
    client.arm("tickets", "hide", match={"operation": "lookup"})
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    assert [e.data["answer"] for e in Event.objects.filter(stream=task.pk, kind="call.observed")] == ["absent"]


def test_a_look_up_that_cannot_tell_is_made_again_until_it_can(rig: Rigs, client: WorldClient) -> None:
    """E09: a 5xx of the look-up is no absence, and looking has no effect."""
    one = rig()
    task = one_call(one, "c.ticket_readable", title=fresh())
    client.arm("tickets", "lose_answer", match={"call": f"{task.pk}/act"})
    client.arm("tickets", "fail_before", match={"operation": "lookup"}, times=2)
    one.run(task, until=lambda t: t.status in ENDS)
    observed = Event.objects.filter(stream=task.pk, kind="call.observed").order_by("seq")
    assert [e.data["answer"] for e in observed] == ["cannot tell", "cannot tell", "found"]
    assert (task.status, kinds(task).count("call.attempted")) == (Status.COMPLETED, 1)


@script
def sets_the_pool(view: TaskView) -> Decision:
    """Read the version, set a value under it; refused because somebody was faster: read and propose afresh."""
    nth = len([name for name in view.calls if name.startswith("set")])
    if nth == 0 or not view.calls[f"set-{nth}"].ok:
        made = call("t.config_if", name=f"set-{nth + 1}")
        given = {"service": "search-gateway", "name": "cluster.timeout_ms", "value": 900 + nth}
        return made.__class__(tool=made.tool, name=made.name, arguments=given)
    return complete(summary=f"proposal {nth}")


def test_a_state_that_moved_on_stops_the_write_and_the_agent_proposes_afresh(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    task = one.task("case.script", script="sets_the_pool", title=fresh())
    armed = client.arm("config", "hold", match={"call": f"{task.pk}/set-1"}, at="arrival", seconds=1.0)
    moved = []

    def somebody_is_faster() -> None:
        client.wait_reached(armed.id)
        moved.append(client.http.post("/config/search-gateway", json={"set": {"cluster.timeout_ms": 950}}).status_code)
        client.release(armed.id)

    thread = Thread(target=somebody_is_faster)
    thread.start()
    one.run(task, until=lambda t: t.status in ENDS)
    thread.join()
    assert (task.status, moved) == (Status.COMPLETED, [200])
    states = dict(Call.objects.filter(task=task).values_list("name", "state"))
    assert states == {"set-1": CallState.REFUSED, "set-2": CallState.VERIFIED}
    assert effects_of(client, task) == 1
    refused = Event.objects.get(stream=task.pk, kind="call.outcome", data__name="set-1")
    assert refused.data["error"]["moved"] is True


@pytest.mark.parametrize("outcome", ["done", "failed"])
@pytest.mark.parametrize("kill", [None, ("E05", "before", 1), ("E05", "before", 2)])
def test_long_work_is_started_once_and_asked_about(
    outcome: str, kill: tuple[str, str, int] | None, rig: Rigs, client: WorldClient
) -> None:
    """Started by key, polled by its handle, no worker held in between; also when workers die around it."""
    one = rig()
    one.die_at = kill
    task = one_call(one, "c.job", kind=fresh(), seconds=1.2, outcome=outcome)
    parked = []
    one.run(task, until=lambda t: bool(parked.append((t.status, (t.wait or {}).get("kind"))) or t.status in ENDS))
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    assert (Status.WAITING, "work") in parked
    state = Call.objects.get(task=task).state
    assert state == (CallState.ANSWERED if outcome == "done" else CallState.REFUSED)


@pytest.fixture
def versions() -> Iterator[Callable[..., None]]:
    """Versions of one agent that come and go with the test."""
    added = []

    def carry(version: int, decide: Callable[[TaskView], Decision], continues: frozenset[int] = frozenset()) -> None:
        done_when = (criterion("note.is_there", box="world"),)
        new = Agent(name="case.renamed", version=version, decide=decide, continues=continues, done_when=done_when)
        agent_register(new)
        added.append((new.name, version))

    yield carry
    for key in added:
        del registry._agents[key]


def test_a_call_renamed_by_a_new_version_does_not_act_twice(
    rig: Rigs, client: WorldClient, versions: Callable[..., None]
) -> None:
    """A version that continues the first knows the act under another name; the business key knows better."""
    title = fresh()

    def first(view: TaskView) -> Decision:
        return call("c.ticket_once", name="ticket", title=title) if "ticket" not in view.calls else complete()

    def second(view: TaskView) -> Decision:
        if "open-ticket" not in view.calls and not view.refused:
            return call("c.ticket_once", name="open-ticket", title=title)
        return complete()

    versions(1, first)
    one = rig()
    one.die_at = ("D02", "before", 1)
    task = one.task("case.renamed")
    one.slice(task)  # acts, and dies before it can say that it is done
    assert one.died
    versions(2, second, frozenset({1}))
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, task.agent_version) == (Status.COMPLETED, 1)
    assert len([t for t in client.state()["tickets"] if t["title"] == title]) == 1
    assert "refused" in Event.objects.filter(stream=task.pk, kind="step.decided").values_list("data__does", flat=True)
