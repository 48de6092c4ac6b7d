"""A death at every place of a run that waits: for a child, a signal, a timer, a person; and of calls side by side."""

from collections.abc import Callable

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.services.decide import approval_decide
from approvals_app.status import Answer, Via
from chaos_app.world.client import WorldClient
from core import boundaries
from core.boundaries import Boundary, Crossing, Position
from tasks_app.finders import parents_wake
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.services.cancel import task_cancel
from tasks_app.services.signal import signal_send
from tasks_app.status import TERMINAL, CallState, Status
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.people import principal_of


def follow(rig: Rig, task: Task) -> Task:
    """Run a task with its children, answering for everybody outside: the signal and the approver."""

    def there(row: Task) -> bool:
        parents_wake()  # as the sweeper does
        for child in Task.objects.filter(parent=row):
            rig.slice(child)
        open_wait = row.open_wait or {}
        if open_wait.get("kind") == "signal":
            signal_send(
                workspace=row.workspace,
                task=row.pk,
                actor="person:silas",
                name="go",
                payload="now",
                request_key=f"go-{row.pk}",
            )
        for request in ApprovalRequest.objects.filter(task=row, status="requested"):
            approval_decide(
                approval=request.pk,
                principal=principal_of(rig.people.silas, rig.people.workspace),
                decision=Answer.APPROVED,
                reason="fine",
                digest=request.digest,
                via=Via.API,
            )
        return row.status in ENDS

    return rig.run(task, until=there, seconds=30)


@pytest.mark.timeout(300)
def test_waiting_for_child_signal_and_timer_survives_a_death_anywhere(
    rig: Callable[[], Rig], client: WorldClient
) -> None:
    first = rig()
    done = follow(first, first.task("test.waits", **intent_of("keyed", 0)))
    assert done.status == Status.COMPLETED, kinds(done)
    wrong = []
    for at in first.seen:
        one = rig()
        one.die_at = at
        made = one.task("test.waits", **intent_of("keyed", 0))
        try:
            task = follow(one, made)
        except AssertionError as error:
            made.refresh_from_db()
            raise AssertionError((at, made.status, made.wait, made.open_wait, kinds(made))) from error
        assert one.died, at
        children = list(Task.objects.filter(parent=task))
        signals = Event.objects.filter(stream=task.pk, kind="signal.received").count()
        counts = [effects_of(client, row) for row in [task, *children]]
        if task.status != Status.COMPLETED or counts != [1, 1] or signals != 1:
            wrong.append((at, task.status, counts, signals, kinds(task)))
    assert not wrong, wrong


@pytest.mark.parametrize("by", ["itself", "a cancel"])
def test_a_parent_whose_child_ends_while_it_parks_for_it_wakes_without_a_sweeper(
    by: str, rig: Callable[[], Rig], client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W04: the child finds its parent held, and the parent has looked already."""
    one = rig()
    task, usual, ended = one.task("test.waits", **intent_of("keyed", 0)), one.handle, list[Task]()

    def beside(crossing: Crossing) -> None:
        usual(crossing)
        here = (crossing.boundary, crossing.position, crossing.task) == (Boundary.RELEASE, Position.BEFORE, task.pk)
        child = Task.objects.filter(parent=task).first() if here and not ended else None
        if child is None or (Task.objects.get(pk=task.pk).open_wait or {}).get("kind") != "child":
            return
        ended.append(child)
        if by == "itself":
            one.run(child, until=lambda row: row.status in ENDS)
            boundaries.install(one.handle)
        else:
            task_cancel(workspace=task.workspace, task=child.pk, actor="person:silas", reason="enough")

    monkeypatch.setattr(one, "handle", beside)
    one.slice(task)
    task.refresh_from_db()
    assert (Task.objects.get(pk=ended[0].pk).status in TERMINAL, task.status) == (True, Status.WAITING)
    assert task.wake_at is not None
    one.slice(task)
    assert kinds(task).count("child.settled") == 1


def test_a_signal_that_comes_while_another_is_being_taken_waits_for_the_next_wait(
    rig: Callable[[], Rig], client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = rig()
    task, usual = one.task("test.waits", **intent_of("keyed", 0)), one.handle

    def beside(crossing: Crossing) -> None:
        at = (crossing.boundary, crossing.position, crossing.task)
        if at == (Boundary.WAIT_ENDED, Position.BEFORE, task.pk) and Task.objects.get(pk=task.pk).signals:
            signal_send(workspace=task.workspace, task=task.pk, actor="person:rhea", name="go", request_key="again")
        usual(crossing)

    monkeypatch.setattr(one, "handle", beside)
    done = follow(one, task)
    assert done.status == Status.COMPLETED
    (left,) = done.signals
    assert Event.objects.get(stream=task.pk, seq=left["seq"]).kind == "signal.received"
    assert Event.objects.filter(stream=task.pk, kind="signal.received").count() == 2
    assert not task_differences(task.pk)


@pytest.mark.timeout(300)
def test_an_approved_call_is_used_once_wherever_its_worker_dies(rig: Callable[[], Rig], client: WorldClient) -> None:
    first = rig()
    done = follow(first, first.task(**intent_of("asked", 0)))
    assert done.status == Status.COMPLETED, kinds(done)
    wrong = []
    for at in first.seen:
        one = rig()
        one.die_at = at
        task = follow(one, one.task(**intent_of("asked", 0)))
        assert one.died, at
        count = effects_of(client, task)
        consumed = kinds(task).count("approval.consumed")
        asked = ApprovalRequest.objects.filter(task=task).count()
        held = task.status == Status.IN_DOUBT and count <= 1
        if not (held or (task.status == Status.COMPLETED and count == 1)) or consumed != 1 or asked != 1:
            wrong.append((at, task.status, count, consumed, asked, kinds(task)))
    assert not wrong, wrong


@pytest.mark.timeout(300)
def test_calls_side_by_side_are_each_settled_on_their_own(rig: Callable[[], Rig], client: WorldClient) -> None:
    first = rig()
    done = first.run(first.task("test.pair", title=fresh()), until=lambda t: t.status in ENDS)
    assert done.status == Status.COMPLETED, kinds(done)
    wrong = []
    for at in first.seen:
        one = rig()
        one.die_at = at
        task = one.run(one.task("test.pair", title=fresh()), until=lambda t: t.status in ENDS)
        states = dict(Call.objects.filter(task=task).values_list("name", "state"))
        counts = [sum(1 for e in client.effects() if e.call == f"{task.pk}/{name}") for name in ("first", "second")]
        held = task.status == Status.IN_DOUBT and states.get("second") == CallState.IN_DOUBT and counts[1] <= 1
        if not one.died or not (held or (task.status == Status.COMPLETED and counts[1] == 1)) or counts[0] != 1:
            wrong.append((at, one.died, task.status, states, counts, kinds(task)))
    assert not wrong, wrong
