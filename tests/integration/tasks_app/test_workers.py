"""Workers, keepers and sweepers as real processes that are really killed, stopped and cut off."""

import os
import signal
import time

import pytest
from django.db import connection

from tasks_app.models import Task, Worker
from tests.integration.tasks_app.conftest import event, kinds, wait_for_event
from tests.processes import alive, children, descendants, kill, wait_for

pytestmark = pytest.mark.timeout(300)  # a busy machine takes long to start a worker
LEASE = 4.0
SLACK = 6.0  # seconds: what a busy machine adds to a bound; the figures themselves are measured by the benchmarks


def claimed(task: Task, epoch: int = 1):
    return wait_for_event(task.id, "slice.claimed", epoch)


def keeper_of(name: str) -> int:
    """Return the process of the keeper of the newest start of a worker."""
    worker = wait_for(lambda: Worker.objects.filter(name__startswith=f"{name}@").order_by("-started_at").first())
    return worker.keeper_pid


def renewed(task: Task) -> None:
    """Wait until the lease has been renewed once: its keeper knows it."""
    before = Task.objects.get(pk=task.pk).lease_until
    wait_for(lambda: Task.objects.get(pk=task.pk).lease_until != before, what="a renewal")


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_task_runs_and_ends_on_a_worker(fleet, pool):
    fleet.worker(pool=pool)
    task = fleet.task("finish")
    wait_for_event(task.id, "task.completed")
    assert kinds(task.id) == ["task.created", "slice.claimed", "task.completed", "slice.released"]


def test_a_killed_child_is_taken_over_at_once_and_the_loss_says_how_it_ended(fleet):
    fleet.worker()
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    child = claimed(task).data["pid"]
    renewed(task)
    started = time.time()
    kill(child)
    again = claimed(task, 2)
    lost = event(task.id, "slice.lost")
    assert again.at.timestamp() - started < 1.0 + SLACK
    said = lost.data["seen"], lost.data.get("exit_status")
    assert said == ("process gone", "signal SIGKILL"), f"{lost.actor}: {lost.data}"
    wait_for_event(task.id, "task.completed")


def test_a_child_that_dies_before_the_worker_has_looked_once_is_told_of_as_well(fleet):
    fleet.worker(app="tests.slices_unseen")
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    kill(claimed(task).data["pid"])
    lost = wait_for_event(task.id, "slice.lost")
    assert (lost.data["seen"], lost.data.get("exit_status")) == ("process gone", "signal SIGKILL")
    wait_for_event(task.id, "task.completed")


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_killed_worker_is_taken_over_at_once_by_another_without_any_sweeper(fleet, pool):
    first = fleet.worker("one", pool=pool)
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    claimed(task)
    keeper = keeper_of("one")
    fleet.worker("two", pool=pool)
    started = time.time()
    kill(first.pid)
    assert claimed(task, 2).at.timestamp() - started < 1.0 + SLACK
    assert event(task.id, "slice.lost").actor.startswith("keeper:one@")
    wait_for_event(task.id, "task.completed")
    wait_for(lambda: not alive(keeper), what="the keeper to go after its worker")


def test_a_worker_killed_with_its_keeper_is_taken_over_when_its_lease_has_run_out(fleet):
    first = fleet.worker("one")
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    claimed(task)
    keeper = keeper_of("one")
    fleet.worker("two")
    fleet.sweeper()
    renewed(task)
    os.kill(keeper, signal.SIGSTOP)  # so that it cannot tell of the death in between
    kill(first.pid)
    kill(keeper)
    started = time.time()
    again = claimed(task, 2)
    assert LEASE - 1.5 < again.at.timestamp() - started < LEASE + 1.0 + SLACK
    assert event(task.id, "slice.lost").data["seen"] == "lease ran out"


def test_a_worker_restarted_under_the_same_name_is_a_new_epoch(fleet):
    first = fleet.worker("one")
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    nonce = claimed(task).data["nonce"]
    assert keeper_of("one")
    kill(first.pid)
    wait_for_event(task.id, "slice.lost")
    fleet.worker("one")
    fleet.sweeper()
    again = claimed(task, 2)
    assert (again.epoch, again.data["worker"]) == (2, event(task.id, "slice.claimed").data["worker"])
    assert again.data["nonce"] != nonce
    assert Worker.objects.filter(name__startswith="one@").count() == 2


def test_a_stopped_slice_is_taken_over_and_its_zombie_touches_nothing(fleet):
    fleet.worker("one", concurrency=1)
    gate = fleet.gate()
    task = fleet.task("hold", "hold", gate=str(gate))
    zombie = claimed(task).data["pid"]
    fleet.worker("two", concurrency=1)
    fleet.sweeper()
    renewed(task)
    os.kill(zombie, signal.SIGSTOP)
    started = time.time()
    try:
        again = claimed(task, 2)
        assert LEASE - 1.5 < again.at.timestamp() - started < LEASE + 1.0 + SLACK
        assert again.data["worker"].startswith("two@")
    finally:
        os.kill(zombie, signal.SIGCONT)
    wait_for(lambda: gate.with_suffix(".lost-1").exists(), what="the zombie to hear that it lost the task")
    assert kinds(task.id) == ["task.created", "slice.claimed", "slice.lost", "slice.claimed"]
    assert str(Task.objects.get(pk=task.pk).lease_nonce) == again.data["nonce"]
    gate.touch()
    assert wait_for_event(task.id, "task.completed").epoch == 2


def test_a_killed_keeper_is_replaced_and_costs_no_slice_its_lease(fleet):
    fleet.environment["HANDRAIL_LEASE_SECONDS"] = "20"  # how fast a keeper starts is the machine's business here
    fleet.worker("one")
    fleet.sweeper()
    gate = fleet.gate()
    task = fleet.task("hold", gate=str(gate))
    claimed(task)
    keeper = keeper_of("one")
    kill(keeper)
    wait_for(lambda: keeper_of("one") != keeper, what="another keeper")
    for _ in range(3):
        renewed(task)
    gate.touch()
    wait_for_event(task.id, "task.completed")
    assert "slice.lost" not in kinds(task.id)


def test_a_death_that_the_replaced_keeper_sees_is_proven_as_well(fleet):
    fleet.worker("one")
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    child = claimed(task).data["pid"]
    keeper = keeper_of("one")
    kill(keeper)
    wait_for(lambda: keeper_of("one") != keeper, what="another keeper")
    renewed(task)
    kill(child)
    assert wait_for_event(task.id, "slice.lost").data["exit_status"] == "signal SIGKILL"
    wait_for_event(task.id, "task.completed")


def test_a_tool_that_starves_every_thread_of_its_process_keeps_its_lease(fleet):
    fleet.worker("one")
    fleet.sweeper()
    task = fleet.task("starve", seconds=LEASE * 2)
    wait_for_event(task.id, "task.completed", seconds=40)
    assert "slice.lost" not in kinds(task.id)


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_tool_that_never_returns_is_ended_at_its_deadline(fleet, pool):
    worker = fleet.worker("one", pool=pool)
    fleet.worker("two")
    task = fleet.task("overdue", "finish")
    lost = wait_for_event(task.id, "slice.lost")
    assert lost.data["seen"] == "killed at deadline"
    wait_for_event(task.id, "task.completed")
    if pool == "threads" and event(task.id, "slice.claimed").data["pid"] == worker.pid:
        assert worker.wait(timeout=10) == -signal.SIGKILL


def test_celerys_hard_time_limit_is_a_loss_with_its_cause(fleet):
    fleet.worker("one", more=("--time-limit", "6"))
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    lost = wait_for_event(task.id, "slice.lost")
    assert lost.data["seen"] == "hard time limit (6 s)"
    assert lost.data["exit_status"]
    wait_for_event(task.id, "task.completed")


def test_a_task_that_kills_its_workers_is_quarantined_and_others_run(fleet):
    fleet.worker("one")
    fleet.sweeper()
    bad, good = fleet.task("die"), [fleet.task("finish"), fleet.task("finish")]
    quarantined = wait_for_event(bad.id, "task.quarantined", seconds=40)
    for task in good:
        wait_for_event(task.id, "task.completed")
    assert kinds(bad.id).count("slice.lost") == 3
    assert [event(bad.id, "slice.lost", n).data["exit_status"] for n in range(3)] == ["exit code 137"] * 3
    assert quarantined.data["place"] == "step 1"


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_shuts_down_hands_its_slices_over_calmly(fleet, pool):
    first = fleet.worker("one", pool=pool)
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    claimed(task)
    fleet.worker("two", pool=pool)
    first.send_signal(signal.SIGTERM)
    assert wait_for_event(task.id, "slice.released").data["why"] == "handed over"
    wait_for_event(task.id, "task.completed", seconds=30)
    assert "slice.lost" not in kinds(task.id)
    assert first.wait(timeout=20) == 0


def test_a_signal_to_every_process_of_a_worker_at_once_is_no_loss(fleet):
    """As a service manager ends a unit: workers, pool processes and keeper get SIGTERM together."""
    first = fleet.worker("one")
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    claimed(task)
    fleet.worker("two")
    for pid in [*descendants(first.pid), first.pid]:
        os.kill(pid, signal.SIGTERM)
    assert wait_for_event(task.id, "slice.released").data["why"] == "handed over"
    wait_for_event(task.id, "task.completed", seconds=30)
    assert "slice.lost" not in kinds(task.id)
    assert first.wait(timeout=20) == 0


def test_a_pool_process_that_alone_is_asked_to_end_is_a_loss(fleet):
    fleet.worker("one", concurrency=1)
    fleet.sweeper()
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    child = claimed(task).data["pid"]
    os.kill(child, signal.SIGTERM)
    assert wait_for_event(task.id, "slice.lost").data["seen"] == "process gone"
    wait_for_event(task.id, "task.completed")
    assert not alive(child)


def test_a_loss_carries_the_last_lines_that_the_dead_process_logged(fleet):
    fleet.worker("one")
    task = fleet.task("last_words", "finish")
    lost = wait_for_event(task.id, "slice.lost")
    assert [line for line in lost.data["log_tail"] if "the pump is getting hot" in line]
    assert len(lost.data["log_tail"]) <= 5


def test_cutting_every_connection_of_a_living_worker_is_no_takeover(fleet):
    fleet.worker("one")
    fleet.sweeper()
    gate = fleet.gate()
    task = fleet.task("hold", gate=str(gate))
    claimed(task)
    renewed(task)
    for _ in range(3):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        renewed(task)
        renewed(task)
    assert "slice.lost" not in kinds(task.id)
    gate.touch()
    wait_for_event(task.id, "task.completed")


def test_a_task_over_its_agents_limit_starts_when_the_other_ends_and_nobody_reclaims_it(fleet):
    fleet.worker("one")
    fleet.worker("two")
    fleet.sweeper()
    gate = fleet.gate()
    first = fleet.task("hold", "hold", agent="slice.single", gate=str(gate))
    claimed(first)
    second = fleet.task("finish", agent="slice.single")
    wait_for_event(second.id, "wait.started")
    kill(event(first.id, "slice.claimed").data["pid"])
    claimed(first, 2)
    gate.touch()
    wait_for_event(first.id, "task.completed")
    wait_for_event(second.id, "task.completed")
    assert "slice.lost" not in kinds(second.id)


@pytest.mark.parametrize("together", [False, True])
def test_keepers_and_children_end_with_their_worker(fleet, together: bool):
    worker = fleet.worker("one")
    keeper = keeper_of("one")
    below = set(children(worker.pid))
    assert keeper in below
    assert len(below) > 2
    for pid in (*([keeper] if together else []), worker.pid):
        kill(pid)
    wait_for(lambda: not any(alive(pid) for pid in below), what="children and keeper to end")
