"""Postgres and the broker die, are emptied, stopped, restarted under real workers: nothing lost, repeated, stuck."""

import os
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
import redis
from django.db import Error, connection

from chaos_app.world.client import WorldClient
from tasks_app.models import Status, Task
from tasks_app.status import CallState
from tasks_app.wake import wake_ups_waiting
from tests.crew import Crew, call_state, kinds, status, wait_status
from tests.integration.faults.conftest import Alone
from tests.integration.runtime.conftest import fresh
from tests.processes import wait_for

pytestmark = pytest.mark.timeout(400)
# How long the broker stays away (seconds). A release is tried once with 30.
BROKER_AWAY = float(os.environ.get("HANDRAIL_TEST_BROKER_AWAY", "6"))
# The keeper's renewals and the sweeper's looks are transactions of a moment; one of the worker would last for the call.
IN_TRANSACTION = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
AND xact_start < clock_timestamp() - interval '3 seconds'
"""


def effects(client: WorldClient, task: Task) -> int:
    return sum(1 for e in client.effects() if (e.call or "").startswith(str(task.pk)))


def completed(client: WorldClient, tasks: dict[Task, int]) -> None:
    """Every task completes, with so many effects outside, and no person was asked anything."""
    for task in tasks:
        wait_status(task, Status.COMPLETED, Status.IN_DOUBT, Status.QUARANTINED, Status.FAILED, seconds=90)
    found = {task.pk: (status(task), effects(client, task)) for task in tasks}
    assert found == {task.pk: (Status.COMPLETED, wanted) for task, wanted in tasks.items()}


def pay(crew: Crew) -> Task:
    return crew.task(tool="c.pay_slow", arguments={"payee": fresh(), "cents": 12_500})


def again(look: Callable[[], Any]) -> Any:
    """Look through this test's own connection, which may have died with the server."""
    try:
        return look()
    except Error:
        connection.close()
        return None


def test_case_08_a_payment_of_eight_seconds_outlives_the_connection_of_its_worker(
    crew: Crew, client: WorldClient
) -> None:
    """No takeover, no doubt, no transaction open during the call; the answer is written on a new connection."""
    crew.sweeper()
    crew.worker("w")
    task = pay(crew)
    held = client.arm("payments", "hold", match={"call": f"{task.pk}/act"}, at="applied", seconds=60)
    client.wait_reached(held.id, seconds=60)
    began = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone()[0] >= 2, "the worker's and its keeper's"
        while time.monotonic() < began + 8:
            cursor.execute(IN_TRANSACTION)
            assert cursor.fetchone()[0] == 0
            time.sleep(0.25)
    client.release(held.id)
    completed(client, {task: 1})
    assert kinds(task.pk).count("slice.claimed") == 1
    assert not {"slice.lost", "call.in_doubt", "call.late_receipt"} & set(kinds(task.pk))


def test_an_answer_that_comes_while_postgres_is_away_is_kept_and_written(alone: Alone, client: WorldClient) -> None:
    """Postgres is killed during a payment, the answer comes, its deadline passes, Postgres returns."""
    crew = alone.crew
    crew.sweeper()
    crew.worker("w")
    task = crew.task(tool="t.pay", arguments={"payee": fresh(), "cents": 1})  # 2 s to send, 4 s for the call
    held = client.arm("payments", "hold", match={"call": f"{task.pk}/act"}, at="applied", seconds=60)
    client.wait_reached(held.id, seconds=60)
    connection.close()
    alone.services.postgres.kill()
    client.release(held.id)
    time.sleep(9)  # past the call's deadline and the keeper's grace: the answer is all that is left
    alone.services.postgres.start()
    wait_for(lambda: again(lambda: call_state(task) == CallState.ANSWERED), seconds=60, what="the answer in the record")
    completed(client, {task: 1})
    assert not {"slice.lost", "call.in_doubt"} & set(kinds(task.pk))


def test_postgres_killed_and_restarted_in_the_middle_of_tasks(alone: Alone, client: WorldClient) -> None:
    """C03 without a failover: what was committed stands, what was not is done again, keyed."""
    crew = alone.crew
    crew.sweeper()
    crew.worker("w", concurrency=2)
    tasks = [crew.task("chain", title=fresh(), count=6) for _ in range(3)]
    for _ in range(2):
        reached = sum(effects(client, task) for task in tasks) + 2
        wait_for(lambda n=reached: sum(effects(client, t) for t in tasks) >= n, seconds=60, what="work under way")
        connection.close()
        alone.services.postgres.kill()
        alone.services.postgres.start()
    wait_for(lambda: again(lambda: status(tasks[0])), what="Postgres")
    completed(client, dict.fromkeys(tasks, 6))
    assert all("task.quarantined" not in kinds(task.pk) for task in tasks)


def flush(alone: Alone) -> None:
    broker = redis.Redis.from_url(alone.services.redis_url)
    broker.flushall()
    broker.close()


def stop_and_start(alone: Alone) -> None:
    alone.services.valkey.stop()
    time.sleep(BROKER_AWAY)
    alone.services.valkey.start()


def kill_and_start(alone: Alone) -> None:
    alone.services.valkey.kill()
    alone.services.valkey.start()


@pytest.mark.parametrize("fault", [flush, stop_and_start, kill_and_start])
def test_case_09_the_broker_forgets_and_the_tasks_run_all_the_same(
    fault: Callable[[Alone], None], alone: Alone, client: WorldClient
) -> None:
    """B02: due in Postgres, found by two sweepers, each run once."""
    crew = alone.crew
    tasks = [crew.task("chain", title=fresh(), count=1) for _ in range(5)]
    assert wake_ups_waiting() == 5
    fault(alone)
    assert wake_ups_waiting() in {0, None}
    with psycopg.connect(alone.services.database_url) as other:
        assert other.execute("SELECT count(*) FROM tasks_app_task WHERE status = 'queued'").fetchone() == (5,)
    crew.worker("w", concurrency=2)
    crew.sweeper()
    crew.sweeper()
    completed(client, dict.fromkeys(tasks, 1))
    assert [kinds(task.pk).count("call.attempted") for task in tasks] == [1] * 5


def test_case_09_a_broker_that_goes_away_under_a_worker_stops_no_task(alone: Alone, client: WorldClient) -> None:
    """Stopped in the middle of a payment and of a chain; what waits is found when it is back."""
    crew = alone.crew
    crew.worker("w", concurrency=2)
    crew.sweeper()
    slow = pay(crew)
    held = client.arm("payments", "hold", match={"call": f"{slow.pk}/act"}, at="applied", seconds=90)
    client.wait_reached(held.id, seconds=60)
    alone.services.valkey.stop()
    later = [crew.task("chain", title=fresh(), count=2) for _ in range(3)]  # their messages go nowhere
    client.release(held.id)
    wait_status(slow, Status.COMPLETED)
    time.sleep(BROKER_AWAY)
    alone.services.valkey.start()
    back = time.monotonic()
    completed(client, dict.fromkeys(later, 2) | {slow: 1})
    assert "slice.lost" not in kinds(slow.pk)
    assert time.monotonic() - back < 60
