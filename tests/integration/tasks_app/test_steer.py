"""Pause, resume, move: allowed where it makes sense, the same answer when asked again, due when it should go on."""

import pytest

from core.errors import NotFound
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Task
from tasks_app.record.rebuild import task_replayed
from tasks_app.services.cancel import task_cancel
from tasks_app.services.intake import InvalidInput
from tasks_app.services.steer import NotNow, task_move, task_pause, task_resume
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, kinds, leased, new_task, task_set


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def pause(people: People, task: Task) -> Task:
    return task_pause(workspace=people.workspace, task=task.id, actor="person:silas", reason="look first")


def resume(people: People, task: Task) -> Task:
    return task_resume(workspace=people.workspace, task=task.id, actor="person:silas")


def test_a_paused_task_is_not_due_and_goes_on_when_resumed(people: People, task: Task) -> None:
    paused = pause(people, task)
    assert (paused.status, paused.wake_at) == ("paused", None)
    resumed = resume(people, task)
    assert resumed.status == "queued"
    assert resumed.wake_at is not None
    assert kinds(task) == ["task.created", "task.paused", "task.resumed"]


def test_asking_again_is_the_same_answer_and_adds_nothing(people: People, task: Task) -> None:
    pause(people, task)
    assert pause(people, task).head_seq == 2
    resume(people, task)
    assert resume(people, task).head_seq == 3


def test_a_paused_task_with_an_open_attempt_is_still_looked_up(people: People, task: Task) -> None:
    call_in(task, "pay", CallState.ATTEMPTED)
    assert pause(people, task).wake_at is not None


def test_a_worker_that_holds_the_task_keeps_its_lease_through_pause_and_resume(people: People, task: Task) -> None:
    nonce = leased(task).lease_nonce
    assert pause(people, task).lease_nonce == nonce
    resumed = resume(people, task)
    assert (resumed.status, resumed.lease_nonce, resumed.wake_at) == ("running", nonce, None)


def test_a_released_quarantine_forgets_its_losses(people: People, task: Task) -> None:
    task_set(task, status="quarantined", losses=3, loss_place="pay", wake_at=None)
    resumed = resume(people, task)
    assert (resumed.status, resumed.losses, resumed.loss_place) == ("queued", 0, "")


def quarantined(task: Task) -> None:
    """Lose a worker of the task, at its agent's limit."""
    nonce = leased(task, status=task.status, losses=2, loss_place="pay").lease_nonce
    assert nonce is not None
    lease_lose(task=task.pk, nonce=nonce, loss=Loss(seen="process gone"), actor="keeper:w")
    assert Task.objects.get(pk=task.pk).status == "quarantined"


@pytest.mark.parametrize("before", ["paused", "cancelling"])
def test_a_quarantined_task_that_was_paused_or_cancelled_is_so_again_when_it_is_released(
    people: People, task: Task, before: str
) -> None:
    call_in(task, "pay", CallState.ATTEMPTED)
    if before == "paused":
        task = pause(people, task)
    else:
        task = task_cancel(workspace=people.workspace, task=task.id, actor="person:silas", reason="wrong customer")
    for _ in range(2):
        quarantined(task)
        task = resume(people, task)
        assert (task.status, task.losses) == (before, 0)
        assert task.wake_at is not None
        assert task_replayed(task.pk).status == before


def test_an_unverified_task_is_checked_again(people: People, task: Task) -> None:
    task_set(task, status="unverified", wake_at=None, claim={"summary": "done", "claims": []})
    resumed = resume(people, task)
    assert (resumed.status, resumed.claim) == ("queued", {"summary": "done", "claims": []})


def test_what_has_ended_is_neither_paused_nor_resumed(people: People, task: Task) -> None:
    task_set(task, status="failed", ended_at="2026-01-01T00:00:00Z", wake_at=None)
    with pytest.raises(NotNow, match="start a copy"):
        pause(people, task)
    with pytest.raises(NotNow, match="failed"):
        resume(people, task)


def test_a_task_of_another_workspace_is_unknown(people: People, task: Task) -> None:
    with pytest.raises(NotFound):
        task_pause(workspace=people.elsewhere, task=task.id, actor="person:tobin", reason="mine now")
    assert kinds(task) == ["task.created"]


def test_a_task_moves_to_a_known_version_and_becomes_due(people: People) -> None:
    task = new_task(people.workspace, people.rhea, agent="test.note", intent={"text": "x"})
    task_set(task, status="waiting", wait={"kind": "worker_version"}, agent_version=1, wake_at=None)
    moved = task_move(workspace=people.workspace, task=task.id, actor="person:rhea", to_version=2, reason="fixed")
    assert (moved.agent_version, kinds(task)[-1]) == (2, "task.moved")
    assert moved.wake_at is not None


def test_a_task_moves_neither_to_an_unknown_version_nor_under_a_worker(people: People, task: Task) -> None:
    with pytest.raises(InvalidInput, match="no version 9"):
        task_move(workspace=people.workspace, task=task.id, actor="person:rhea", to_version=9, reason="?")
    leased(task, agent_version=7)
    with pytest.raises(NotNow, match="worker holds it"):
        task_move(workspace=people.workspace, task=task.id, actor="person:rhea", to_version=1, reason="?")
