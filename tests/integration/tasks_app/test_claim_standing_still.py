"""A process that is stopped within a claim holds no lease that could run out, only the row."""

import threading

import pytest
from django.db import InternalError, connection

from core.boundaries import Boundary, Crossing, install
from tasks_app.leases import lease_claim
from tests.integration.tasks_app.conftest import WORKER, due, kinds
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_who_stands_still_within_a_claim_does_not_keep_the_task(people, settings):
    """L02: as a process that was stopped; it holds no lease that could run out, only the row."""
    settings.LEASE_SECONDS = 0.5
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
