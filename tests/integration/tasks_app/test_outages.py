"""The broker and the database go away and come back: nothing is lost, nobody is declared dead, nothing is stuck."""

import subprocess
import sys
import time

import psycopg
import pytest
import redis

from core.embedded import address
from tests.integration.tasks_app.conftest import kinds, wait_for_event
from tests.processes import ROOT, kill, pool_processes, running, wait_for

pytestmark = pytest.mark.timeout(300)
BROKER_AWAY = 6.0
DATABASE_AWAY = 8.0  # two leases


@pytest.fixture
def own_broker(fleet, private_services, monkeypatch):
    """A broker that this test alone uses, for the fleet; what this process itself sends goes nowhere."""
    valkey = private_services().valkey
    broker = address.celery_broker_url(valkey.redis_url)
    fleet.environment |= {"REDIS_URL": valkey.redis_url, "CELERY_BROKER_URL": broker}
    return valkey


def test_due_tasks_run_within_seconds_of_an_emptied_brokers_return_each_once(fleet, own_broker):
    fleet.worker("one")
    fleet.sweeper()
    own_broker.kill()
    tasks = [fleet.task("finish") for _ in range(5)]
    time.sleep(BROKER_AWAY)  # long enough for every retry to have failed
    assert [kinds(task.id) for task in tasks] == [["task.created"]] * 5
    own_broker.start()
    with redis.Redis.from_url(own_broker.redis_url) as client:
        client.flushall()
    for task in tasks:
        wait_for_event(task.id, "task.completed", seconds=30)
    assert all(kinds(task.id).count("slice.claimed") == 1 for task in tasks)


def test_a_slice_goes_on_while_the_broker_is_away(fleet, own_broker):
    fleet.worker("one")
    fleet.sweeper()
    gate = fleet.gate()
    task = fleet.task("hold", gate=str(gate))
    wait_for_event(task.id, "slice.claimed")
    own_broker.kill()
    time.sleep(BROKER_AWAY)  # longer than a lease
    gate.touch()
    wait_for_event(task.id, "task.completed")
    own_broker.start()
    after = fleet.task("finish")
    wait_for_event(after.id, "task.completed")
    assert "slice.lost" not in kinds(task.id)


def test_a_child_that_dies_while_the_broker_is_away_is_lost_with_the_words_on_how_it_ended(fleet, own_broker):
    worker = fleet.worker("one")
    fleet.sweeper()
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    child = wait_for_event(task.id, "slice.claimed").data["pid"]
    own_broker.kill()
    time.sleep(1)  # the worker's loop ends, and begins anew only with a broker
    kill(child)
    lost = wait_for_event(task.id, "slice.lost")
    assert lost.data["exit_status"] == "signal SIGKILL", lost.data
    own_broker.start()
    wait_for(lambda: len(pool_processes(worker.pid)) == 2, what="a whole pool again")


CREATE = """
import tests.slices
from tasks_app.services.create import task_create
from tests.people import people_create
people = people_create()
print(task_create(workspace=people.workspace, owner=people.rhea, actor="person:rhea", agent="slice.work",
    intent={"does": ["hold"], "gate": GATE}).id)
"""


def test_a_restart_of_the_database_costs_no_slice_its_lease(fleet, private_services, tmp_path):
    services, gate = private_services(), fleet.gate()
    fleet.environment |= {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "CELERY_BROKER_URL": address.celery_broker_url(services.redis_url),
    }
    _manage(fleet, "migrate")
    worker = fleet.worker("one")
    made = _manage(fleet, "shell", "--no-imports", "-c", f"GATE = {str(gate)!r}\n" + CREATE)
    task = made.stdout.split()[-1]

    def seen() -> list[str]:
        with psycopg.connect(services.database_url) as look:
            return [
                kind
                for (kind,) in look.execute("SELECT kind FROM tasks_app_event WHERE stream = %s ORDER BY seq", [task])
            ]

    wait_for(lambda: "slice.claimed" in seen(), seconds=60, what="the claim")
    sweeper_log = tmp_path / "sweeper-own.log"
    with running("manage.py", "sweep", env=fleet.environment, log=sweeper_log):
        time.sleep(5)  # it has watched for a whole lease
        services.postgres.kill()
        time.sleep(DATABASE_AWAY)
        services.postgres.start()
        time.sleep(DATABASE_AWAY)  # time enough to be declared dead, were anybody to do it
        assert seen() == ["task.created", "slice.claimed"]
        gate.touch()
        wait_for(lambda: "task.completed" in seen(), seconds=60, what="the end")
    assert worker.poll() is None


def _manage(fleet, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        env=fleet.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
