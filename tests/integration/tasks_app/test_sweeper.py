"""What sweepers find, and what they leave alone."""

import base64
import json
import threading
import time
from copy import copy
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection

from core.clock import database_now
from tasks_app import finders
from tasks_app.finders import BATCH, DueTasks, leases_ran_out, parents_wake, tasks_due
from tasks_app.leases import lease_claim
from tasks_app.models import Status, Task
from tasks_app.sweeper import LeaseWatch, Sweeper
from tasks_app.wake import wake_now, wake_ups_waiting
from tasks_app.workers import WorkerDescription, worker_seen
from tests.integration.tasks_app.conftest import WORKER, kinds
from tests.integration.tasks_app.test_leases import claim, due
from tests.processes import running, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
FOUND: list[str] = []


@pytest.fixture
def empty_broker(settings):
    import redis

    client = redis.Redis.from_url(settings.REDIS_URL)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


def ran_out(people) -> Task:
    task = due(people)
    claim(task)
    Task.objects.filter(pk=task.pk).update(lease_until=database_now() - timedelta(seconds=1))
    return task


def old_server(monkeypatch) -> None:
    monkeypatch.setattr("tasks_app.sweeper.database_uptime", lambda: timedelta(seconds=60))


def test_a_sweeper_takes_over_by_time_only_after_it_has_watched_for_a_whole_lease(people, monkeypatch):
    task, watch = ran_out(people), LeaseWatch()
    old_server(monkeypatch)
    watch.sweep()
    assert "slice.lost" not in kinds(task.pk)
    watch.reach.since = time.monotonic() - 5
    watch.sweep()
    assert kinds(task.pk)[-1] == "slice.lost"


def test_nor_while_the_server_is_younger_than_a_lease(people, monkeypatch):
    task, watch = ran_out(people), LeaseWatch()
    monkeypatch.setattr("tasks_app.sweeper.database_uptime", lambda: timedelta(seconds=3))
    watch.sweep()
    watch.reach.since = time.monotonic() - 60
    watch.sweep()
    assert "slice.lost" not in kinds(task.pk)


def test_several_sweepers_at_once_declare_a_loss_once(people):
    task = ran_out(people)
    counts = []

    def race() -> None:
        try:
            counts.append(leases_ran_out())
        finally:
            connection.close()

    racers = [threading.Thread(target=race) for _ in range(4)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert kinds(task.pk).count("slice.lost") == 1
    assert sum(counts) == 1


def test_a_lease_that_was_renewed_after_the_look_is_not_taken(people):
    task = due(people)
    lease = claim(task)  # lives: the same as one renewed between the sweeper's look and its lock
    done = finders.lease_lose(
        task=task.pk, nonce=lease.token.nonce, loss=finders.Loss(seen="x"), actor="sweeper", only_if_ran_out=True
    )
    assert not done
    assert "slice.lost" not in kinds(task.pk)


def test_the_queue_never_holds_more_messages_than_there_is_due_work(people, empty_broker, monkeypatch):
    monkeypatch.setattr(finders, "AGAIN", 0.0)
    monkeypatch.setattr(finders, "HEAD_START", timedelta(0))
    for _ in range(3):
        due(people)
    empty_broker.flushdb()
    look = DueTasks()
    assert [look() for _ in range(4)] == [3, 0, 0, 0]
    assert wake_ups_waiting() == 3


def test_what_time_made_due_is_told_of_at_once_and_once_whatever_else_waits(people, empty_broker, monkeypatch):
    monkeypatch.setattr(finders, "HEAD_START", timedelta(hours=1))  # nobody else has sent anything to wait for
    task, stale, look = due(people), due(people), DueTasks()
    Task.objects.filter(pk=stale.pk).update(wake_at=None)
    empty_broker.flushdb()
    assert all(wake_now(stale.pk) for _ in range(3))  # messages about what is not due any more
    Task.objects.filter(pk=task.pk).update(wake_at=database_now() + timedelta(seconds=1.5))
    assert look() == 0
    wait_for(lambda: look() == 1, seconds=10)
    assert [look(), wake_ups_waiting()] == [0, 4]


def test_a_task_is_sent_again_after_a_second_and_not_before(people, empty_broker, monkeypatch):
    monkeypatch.setattr(finders, "HEAD_START", timedelta(0))
    due(people)
    look = DueTasks()
    empty_broker.flushdb()
    assert look() == 1
    empty_broker.flushdb()  # the message is lost
    assert look() == 0
    until = time.monotonic() + 5
    while (sent := look()) == 0:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert sent == 1


def messages_taken(broker) -> list[UUID]:
    """Take what waits, as workers do; return the tasks that it names."""
    told = []
    while message := broker.rpop("celery"):
        told.append(UUID(json.loads(base64.b64decode(json.loads(message)["body"]))[0][0]))
    return told


def test_what_only_a_worker_carries_that_takes_nothing_hides_no_task_of_another(
    people, empty_broker, monkeypatch, settings
):
    settings.LEASE_SECONDS = 600  # the other worker is alive all the time
    many = 50
    monkeypatch.setattr(finders, "BATCH", many)
    monkeypatch.setattr(finders, "AGAIN", 0.0)
    monkeypatch.setattr(finders, "HEAD_START", timedelta(0))
    full = {"id": str(uuid4()), "name": "full", "host": "elsewhere", "pid": 1, "pool": "prefork", "code_digest": ""}
    worker_seen(
        worker=WorkerDescription(**full, carries={"agents": {"elsewhere.only": [1]}}), keeper_pid=1, draining=False
    )
    first = due(people)
    Task.objects.filter(pk=first.pk).update(agent="elsewhere.only", agent_version=1)
    first.refresh_from_db()
    others = [copy(first) for _ in range(many)]
    for other in others:
        other.pk = uuid4()
    Task.objects.bulk_create(others)
    task, look = due(people), DueTasks()
    empty_broker.flushdb()
    sent, claimed = [], []
    for _ in range(3):
        sent.append(look())
        claimed += [lease for told in messages_taken(empty_broker) if (lease := lease_claim(task=told, worker=WORKER))]
    assert [lease.task for lease in claimed] == [task.pk]
    assert sent == [many, 2, many]  # then from the first again
    assert Task.objects.filter(agent="elsewhere.only", wake_at=first.wake_at).count() == many + 1


def test_a_look_that_could_tell_nobody_is_made_again(people, empty_broker, monkeypatch):
    monkeypatch.setattr(finders, "BATCH", 1)
    monkeypatch.setattr(finders, "HEAD_START", timedelta(0))
    tasks, look = [due(people) for _ in range(2)], DueTasks()
    empty_broker.flushdb()
    with monkeypatch.context() as patch:
        patch.setattr(finders, "wake_now", lambda task: False)
        assert look() == 0
    assert [look(), messages_taken(empty_broker)] == [1, [tasks[0].pk]]
    assert [look(), messages_taken(empty_broker)] == [1, [tasks[1].pk]]


def test_what_only_waits_is_not_touched(people, monkeypatch):
    parked, timer, tomorrow = due(people), due(people), database_now() + timedelta(days=1)
    Task.objects.filter(pk=parked.pk).update(status=Status.WAITING, wait={"kind": "approval"}, wake_at=None)
    Task.objects.filter(pk=timer.pk).update(status=Status.WAITING, wait={"kind": "timer"}, wake_at=tomorrow)
    live = due(people)
    claim(live)
    sweeper = Sweeper()
    old_server(monkeypatch)
    sweeper.sweep()
    sweeper.leases.sweep()
    sweeper.leases.reach.since = time.monotonic() - 60
    sweeper.leases.sweep()
    assert not tasks_due().filter(pk__in=[parked.pk, timer.pk, live.pk]).exists()
    assert [kinds(task.pk)[-1] for task in (parked, timer, live)] == ["task.created", "task.created", "slice.claimed"]


def waiting_parent(people, child: Task, on: str) -> Task:
    parent = due(people)
    Task.objects.filter(pk=child.pk).update(parent=parent)
    Task.objects.filter(pk=parent.pk).update(
        status=Status.WAITING,
        wake_at=None,
        wait={"kind": "child"},
        open_wait={"kind": "child", "name": "its end", "on": on},
        child_tasks={"helper": {"child": str(child.pk), "settled": False}},
    )
    return parent


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_parent_whose_awaited_child_has_ended_becomes_due(people, by):
    child = due(people)
    parent = waiting_parent(people, child, "helper" if by == "name" else str(child.pk))
    assert parents_wake() == 0
    Task.objects.filter(pk=child.pk).update(status=Status.COMPLETED, ended_at=database_now())
    assert [parents_wake(), parents_wake()] == [1, 0]
    parent.refresh_from_db()
    assert parent.wake_at is not None


def test_the_end_of_another_child_wakes_nobody(people):
    child = due(people)
    waiting_parent(people, child, str(uuid4()))
    Task.objects.filter(pk=child.pk).update(status=Status.COMPLETED, ended_at=database_now())
    assert parents_wake() == 0


def test_the_ended_children_that_nobody_awaits_hide_none_that_is_awaited(people):
    """However many they are: a parent that awaits the last of a wide fan-out."""
    running_on = due(people)
    sleeping, parent = (waiting_parent(people, running_on, "helper") for _ in range(2))
    ended = [copy(running_on) for _ in range(2 * BATCH)]
    for nth, child in enumerate(ended, start=1):
        child.pk, child.parent, child.ended_at = uuid4(), (sleeping, parent)[nth % 2 == 0], database_now()
        child.status = Status.COMPLETED
    Task.objects.bulk_create(ended)
    awaited = {"helper": {"child": str(ended[-1].pk), "settled": False}}
    Task.objects.filter(pk=parent.pk).update(child_tasks=awaited)
    assert [parents_wake(), parents_wake()] == [1, 0]
    woken = dict(Task.objects.filter(pk__in=[parent.pk, sleeping.pk]).values_list("pk", "wake_at"))
    assert (woken[parent.pk] is not None, woken[sleeping.pk]) == (True, None)


def test_a_finder_that_fails_stops_no_other(people):
    broken, other = (f"tests.integration.tasks_app.test_sweeper.{name}" for name in ("broken_finder", "other_finder"))
    FOUND.clear()
    Sweeper(extra=[broken, other]).sweep()
    assert FOUND == ["other"]


def test_a_look_that_takes_longer_than_half_a_lease_leaves_no_lost_machines_task_lying(
    people, child_environment, tmp_path
):
    task, log = ran_out(people), tmp_path / "sweeper.log"
    with running("-m", "tests.slow_sweeper", env=child_environment, log=log):
        wait_for(lambda: kinds(task.pk)[-1] == "slice.lost", seconds=40, what="the lease that ran out to be found")


def broken_finder() -> None:
    raise ZeroDivisionError


def other_finder() -> None:
    FOUND.append("other")
