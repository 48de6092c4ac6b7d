"""One row with which a duty cannot be done keeps no other waiting: not in a sweeper, and not in a keeper."""

import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DataError, OperationalError

from core.clock import database_now
from core.row_by_row import row_by_row
from tasks_app import finders
from tasks_app.finders import leases_ran_out, parents_wake
from tasks_app.keeper import renewer as renewing
from tasks_app.keeper.renewer import Death, Renewer
from tasks_app.keeper.server import Server
from tasks_app.keeper.table import Watched
from tasks_app.losses import Loss
from tasks_app.models import Task
from tasks_app.services import cancel
from tasks_app.sweeper import LeaseWatch
from tasks_app.workers import WorkerDescription
from tests.integration.tasks_app.conftest import due, kinds
from tests.integration.tasks_app.test_leases import claim
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def failing_for(task: UUID, does: Callable[..., Any], error: Exception, said_as: str = "task") -> Callable[..., Any]:
    def act(**given: Any) -> Any:
        if given[said_as] == task:
            raise error
        return does(**given)

    return act


def ran_out(people: Any, seconds: int) -> Task:
    task = due(people)
    claim(task)
    Task.objects.filter(pk=task.pk).update(lease_until=database_now() - timedelta(seconds=seconds))
    return task


@pytest.mark.parametrize("error", [DataError("a row"), ZeroDivisionError()])
def test_a_lease_that_cannot_be_declared_lost_keeps_no_other_from_it(people, monkeypatch, error: Exception) -> None:
    broken, task = ran_out(people, 60), ran_out(people, 1)
    monkeypatch.setattr(finders, "lease_lose", failing_for(broken.pk, finders.lease_lose, error))
    assert leases_ran_out() == 1
    assert (kinds(task.pk)[-1], kinds(broken.pk)[-1]) == ("slice.lost", "slice.claimed")


def test_a_statement_that_is_wrong_is_no_outage(people, monkeypatch) -> None:
    def wrong() -> int:
        raise DataError("a row")

    monkeypatch.setattr(finders, "leases_ran_out", wrong)
    monkeypatch.setattr("tasks_app.sweeper.database_uptime", lambda: timedelta(seconds=60))
    watch = LeaseWatch()
    watch.sweep()
    since = watch.reach.since = time.monotonic() - 60
    watch.sweep()
    assert watch.reach.since == since


def test_a_database_that_is_away_ends_the_batch() -> None:
    met = []

    def act(row: int) -> int:
        met.append(row)
        raise OperationalError("away")

    with pytest.raises(OperationalError):
        row_by_row([1, 2], act)
    assert met == [1]


def test_a_parent_that_cannot_be_woken_keeps_no_other_asleep(people, monkeypatch) -> None:
    broken, parent, child = uuid4(), uuid4(), uuid4()
    woken = []
    monkeypatch.setattr(finders, "parents_asleep", lambda: [(broken, child), (parent, child)])
    told = failing_for(broken, lambda **given: woken.append(given["parent"]) or 1, ZeroDivisionError(), "parent")
    monkeypatch.setattr(finders, "parent_wake", told)
    assert (parents_wake(), woken) == (1, [parent])


def test_a_child_that_cannot_be_cancelled_keeps_no_other_going(people, monkeypatch) -> None:
    parent, broken, child = (due(people) for _ in range(3))
    cancel.task_cancel(workspace=people.workspace, task=parent.pk, actor="person:rhea", reason="wrong")
    Task.objects.filter(pk__in=[broken.pk, child.pk]).update(parent=parent)
    monkeypatch.setattr(cancel, "task_cancel", failing_for(broken.pk, cancel.task_cancel, ZeroDivisionError()))
    assert cancel.children_cancel() == 1
    assert (kinds(child.pk)[-1], kinds(broken.pk)[-1]) == ("task.cancelled", "task.created")


def described() -> WorkerDescription:
    return WorkerDescription(
        id=str(uuid4()), name="w1", host="here", pid=os.getpid(), pool="prefork", code_digest="", carries={}
    )


def watched(people: Any) -> Watched:
    task = due(people)
    lease = claim(task)
    return Watched(task=task.pk, nonce=lease.token.nonce, pid=1, epoch=lease.token.epoch)


def until(slice_: Watched) -> Any:
    return Task.objects.values_list("lease_until", flat=True).get(pk=slice_.task)


def test_a_death_that_cannot_be_declared_keeps_neither_the_next_one_nor_the_leases(people, monkeypatch) -> None:
    broken, dead, alive = (watched(people) for _ in range(3))
    real = renewing.lease_lose
    monkeypatch.setattr(renewing, "lease_lose", failing_for(broken.task, real, ZeroDivisionError()))
    keeper = Renewer(worker=described(), pid=1, renewable=lambda: [alive], on_lost=lambda nonce: None)
    keeper.lose([Death(watched=one, loss=Loss(seen="process gone")) for one in (broken, dead)])
    before = until(alive)
    keeper.step()
    assert [kinds(one.task)[-1] for one in (broken, dead)] == ["slice.claimed", "slice.lost"]
    assert until(alive) > before
    assert not keeper.idle  # it is not forgotten
    monkeypatch.setattr(renewing, "lease_lose", real)
    keeper.step()
    assert (kinds(broken.task)[-1], keeper.idle) == ("slice.lost", True)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_keeper_whose_renewals_have_ended_ends_so_that_another_takes_its_place(monkeypatch) -> None:
    def broken(self: Renewer) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Renewer, "step", broken)
    with socket.socket(socket.AF_UNIX) as listener:
        server = Server(worker=described(), listener=listener)
        ended: list[BaseException] = []

        def serve() -> None:
            try:
                server.run()
            except RuntimeError as error:
                ended.append(error)

        threading.Thread(target=serve, daemon=True).start()
        wait_for(lambda: ended, seconds=20, what="the keeper to end")
