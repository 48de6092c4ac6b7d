"""Who locks a task's row and is stopped has no lease that could run out, only the row: the transaction is bounded."""

import re
import threading
from collections.abc import Callable

import pytest
from django.db import InternalError, connection
from django.test.utils import CaptureQueriesContext

from core.boundaries import Boundary, Crossing, install
from tasks_app.leases import Lease, lease_claim, lease_renew
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Task
from tasks_app.record.events import CallOutcome
from tasks_app.record.late import late_keep, late_receipt_append
from tasks_app.services.command import command
from tests.integration.tasks_app.conftest import WORKER, due, kinds
from tests.people import People
from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
# They replay or remove whole records, at a person's command, and compute for long between two statements; the twin of
# the append statement is the tests' own.
UNBOUNDED = {"tasks_app/record/rebuild.py", "tasks_app/record/purge.py", "tasks_app/record/twin.py"}
ANSWER = CallOutcome(name="act", attempt=1, outcome="ok", result=None)


def renews(people: People, task: Task, lease: Lease) -> None:
    lease_renew(leases=[(task.pk, lease.token)])


def loses(people: People, task: Task, lease: Lease) -> None:
    lease_lose(task=task.pk, nonce=lease.token.nonce, loss=Loss(seen="process gone"), actor="sweeper")


def keeps_late_writes(people: People, task: Task, lease: Lease) -> None:
    late_keep(stream=task.pk, events=[ANSWER], actor="worker:w", token=lease.token)


def takes_late_receipts(people: People, task: Task, lease: Lease) -> None:
    late_receipt_append(stream=task.pk, outcome=ANSWER, actor="worker:w", token=lease.token)


def commands(people: People, task: Task, lease: Lease) -> None:
    with command(workspace=people.workspace, task=task.pk, actor="person:rhea"):
        pass


@pytest.mark.parametrize("locks", [renews, loses, keeps_late_writes, takes_late_receipts, commands])
def test_the_statement_that_locks_bounds_its_transaction(people: People, locks: Callable[..., None]) -> None:
    task = due(people)
    lease = lease_claim(task=task.pk, worker=WORKER)
    with CaptureQueriesContext(connection) as asked:
        locks(people, task, lease)
    locking = [one["sql"] for one in asked if re.search(r"FROM \"tasks_app_task\".* FOR (NO KEY )?UPDATE", one["sql"])]
    assert locking
    assert all("idle_in_transaction_session_timeout" in sql for sql in locking)


def test_nobody_else_locks_a_tasks_row() -> None:
    sources = [
        path for app in ("core", "tasks_app", "approvals_app", "chaos_app") for path in (ROOT / app).rglob("*.py")
    ]
    found = {str(path.relative_to(ROOT)) for path in sources if "Task.objects.select_for_update" in path.read_text()}
    assert found - UNBOUNDED == {"tasks_app/task_lock.py"}


def test_who_stands_still_within_a_claim_does_not_keep_the_task(people, settings):
    """L02: as a process that was stopped; it holds no lease that could run out, only the row."""
    settings.LEASE_SECONDS = 2.0
    task, stands, go, problems = due(people), threading.Event(), threading.Event(), []

    def stand_still(crossing: Crossing) -> None:
        if threading.current_thread().name == "stopped" and crossing.boundary == Boundary.CLAIM:
            stands.set()
            go.wait(30)

    def claims() -> None:
        try:
            lease_claim(task=task.pk, worker=WORKER)
        except InternalError as error:
            problems.append(error)
        finally:
            connection.close()

    stopped = threading.Thread(target=claims, name="stopped")
    install(stand_still)
    try:
        stopped.start()
        assert stands.wait(10)
        assert lease_claim(task=task.pk, worker=WORKER) is None
        lease = wait_for(lambda: lease_claim(task=task.pk, worker=WORKER), seconds=10, what="the row to be free")
    finally:
        go.set()
        stopped.join()
        install(None)
    assert (lease.token.epoch, len(problems)) == (1, 1)
    assert kinds(task.pk).count("slice.claimed") == 1
