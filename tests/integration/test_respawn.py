"""A worker whose pool process is killed in the middle of a task has a new one at once."""

import os
import time

import pytest
from celery import Celery

from core.embedded import address
from tests.processes import kill, pool_processes, running, wait_for

# Celery itself looks every five seconds; a look each tenth of a second leaves the time that a fork takes, however busy
# the machine is.
LONG_BEFORE_CELERY = 4.0


@pytest.fixture
def worker(private_services, tmp_path):
    services = private_services()
    broker = address.celery_broker_url(services.redis_url)
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "CELERY_BROKER_URL": broker,
    }
    log = tmp_path / "worker.log"
    command = ["-m", "celery", "-A", "tests.busy", "worker", "-n", "one@%h", "--concurrency", "2", "--loglevel", "INFO"]
    with running(*command, env=env, log=log) as process, Celery(broker=broker, set_as_current=False) as client:
        wait_for(lambda: " ready." in log.read_text(), seconds=90, what="the worker to be ready")
        yield process, services, client


def killed_to_replaced(process, client, folder):
    """Kill a pool process while it works; return the seconds until the pool is whole again."""
    before = pool_processes(process.pid)
    seen = set(folder.iterdir())
    client.send_task("tests.hold", [str(folder)])
    victim = int(wait_for(lambda: set(folder.iterdir()) - seen, what="the task to begin").pop().name)
    started = time.monotonic()
    kill(victim)
    wait_for(lambda: len(pool_processes(process.pid) - {victim}) == len(before), what="a new pool process")
    return time.monotonic() - started


def slowest_of_four(process, client, tmp_path):
    folder = tmp_path / "held"
    folder.mkdir()
    return max(killed_to_replaced(process, client, folder) for _ in range(4))


def test_a_pool_process_killed_at_work_is_replaced_at_once(worker, tmp_path):
    process, _, client = worker
    assert slowest_of_four(process, client, tmp_path) < LONG_BEFORE_CELERY


def test_it_is_still_replaced_at_once_after_the_broker_went_away_and_came_back(worker, tmp_path):
    process, services, client = worker
    services.valkey.kill()
    log = tmp_path / "worker.log"
    wait_for(lambda: "Connection to broker lost" in log.read_text(), what="the loss of the broker to be noticed")
    services.valkey.start()
    wait_for(lambda: log.read_text().count("Connected to ") == 2, seconds=40, what="the worker to be back")
    assert slowest_of_four(process, client, tmp_path) < LONG_BEFORE_CELERY
