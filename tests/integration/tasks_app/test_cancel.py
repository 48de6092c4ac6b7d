"""Cancel: nothing further starts, what was attempted is settled first, approvals go in the same transaction."""

from typing import Any

import pytest

from approvals_app.gate import ApprovalsGate
from tasks_app.gate import gate
from tasks_app.models import Call, Event, Task
from tasks_app.record.events import ApprovalVoided
from tasks_app.services.cancel import children_cancel, task_cancel
from tasks_app.services.steer import NotNow
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, kinds, leased, new_task, task_set


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def cancel(people: People, task: Task) -> Task:
    return task_cancel(workspace=people.workspace, task=task.id, actor="person:silas", reason="wrong customer")


def test_a_task_without_open_attempt_ends_at_once_with_its_intended_calls_withdrawn(people: People, task: Task) -> None:
    call_in(task, "pay", CallState.INTENDED, business_key="ledger.pay:1")
    cancelled = cancel(people, task)
    assert (cancelled.status, cancelled.wake_at) == ("cancelled", None)
    assert cancelled.ended_at is not None
    call = Call.objects.get(task=task)
    withdrawn = Event.objects.get(stream=task.id, kind="call.withdrawn")
    assert (call.state, call.holds_business_key, call.settled_seq) == ("withdrawn", False, withdrawn.seq)
    assert kinds(task)[-3:] == ["task.cancel_requested", "call.withdrawn", "task.cancelled"]


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN, CallState.OK, CallState.IN_DOUBT])
def test_an_open_attempt_is_settled_first(people: People, task: Task, state: CallState) -> None:
    call_in(task, "pay", state)
    task_set(task, status="waiting", wait={"kind": "look_up"}, wake_at=None)
    cancelled = cancel(people, task)
    assert cancelled.status == "cancelling"
    assert cancelled.wake_at is not None
    assert Call.objects.get(task=task).state == state


def test_a_worker_that_holds_the_task_and_has_attempted_nothing_loses_it(people: People, task: Task) -> None:
    leased(task)
    cancelled = cancel(people, task)
    assert (cancelled.status, cancelled.lease_nonce, cancelled.lease_holder) == ("cancelled", None, "")


def test_approvals_are_voided_in_the_same_append(people: People, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    call_in(task, "pay", CallState.ASKED)
    call_in(task, "mail", CallState.APPROVED)
    asked: list[Any] = []

    def void(self: ApprovalsGate, **question: Any) -> tuple[ApprovalVoided, ...]:
        asked.append(question)
        return tuple(ApprovalVoided(approval=f"a-{n}", name=n, reason=question["reason"]) for n in ("pay", "mail"))

    monkeypatch.setattr(type(gate()), "void", void)
    cancel(people, task)
    assert [(q["task"], q["names"], q["reason"]) for q in asked] == [(task.id, None, "task cancelled")]
    voided = {event.data["name"]: event.seq for event in Event.objects.filter(stream=task.id, kind="approval.voided")}
    for call in Call.objects.filter(task=task):
        assert (call.state, call.settled_seq) == ("voided", voided[call.name])


def test_cancelling_again_is_the_same_answer(people: People, task: Task) -> None:
    assert cancel(people, task).head_seq == cancel(people, task).head_seq


def test_what_completed_cannot_be_cancelled(people: People, task: Task) -> None:
    task_set(task, status="completed", ended_at="2026-01-01T00:00:00Z", wake_at=None)
    with pytest.raises(NotNow, match="what it did stands"):
        cancel(people, task)


def test_children_get_cancel_requests_of_their_own(people: People, task: Task) -> None:
    child, grandchild, done = (new_task(people.workspace, people.rhea) for _ in range(3))
    Task.objects.filter(pk__in=[child.id, done.id]).update(parent=task)
    Task.objects.filter(pk=grandchild.id).update(parent=child)
    task_set(done, status="completed", ended_at="2026-01-01T00:00:00Z")
    cancel(people, task)
    states = {one.pk: one.status for one in Task.objects.all()}
    assert (states[child.id], states[grandchild.id], states[done.id]) == ("cancelled", "cancelled", "completed")
    assert Event.objects.get(stream=child.id, kind="task.cancel_requested").actor == "system"


def test_children_that_a_crash_left_out_are_found(people: People, task: Task) -> None:
    cancel(people, task)
    child = new_task(people.workspace, people.rhea)
    Task.objects.filter(pk=child.id).update(parent=task)
    assert children_cancel() == 1
    assert Task.objects.get(pk=child.id).status == "cancelled"
    assert children_cancel() == 0


def test_cancelling_a_child_wakes_the_parent_that_waits_for_it(
    people: People, task: Task, django_capture_on_commit_callbacks: Any
) -> None:
    child, other = new_task(people.workspace, people.rhea), new_task(people.workspace, people.rhea)
    Task.objects.filter(pk__in=[child.pk, other.pk]).update(parent=task)
    entries = {"helper": {"child": str(child.pk), "settled": False}}
    wait = {"kind": "child", "name": "its end", "on": "helper"}
    task_set(task, status="waiting", wait={"kind": "child"}, wake_at=None, open_wait=wait, child_tasks=entries)
    with django_capture_on_commit_callbacks(execute=True):
        cancel(people, other)
    assert Task.objects.get(pk=task.pk).wake_at is None
    with django_capture_on_commit_callbacks(execute=True):
        cancel(people, child)
    assert Task.objects.get(pk=task.pk).wake_at is not None
