"""Workers, keepers and sweepers as real processes that are really killed."""

from tests.integration.tasks_app.conftest import event, kinds, wait_for_event
from tests.processes import kill


def test_a_task_runs_and_ends_on_a_worker(fleet):
    fleet.worker()
    task = fleet.task("finish")
    wait_for_event(task.id, "task.completed")
    assert kinds(task.id) == ["task.created", "slice.claimed", "task.completed", "slice.released"]


def test_a_killed_child_is_taken_over_at_once_and_the_loss_says_how_it_ended(fleet):
    fleet.worker()
    task = fleet.task("hold", "finish", gate=str(fleet.gate()))
    child = wait_for_event(task.id, "slice.claimed").data["pid"]
    kill(child)
    again = wait_for_event(task.id, "slice.claimed", 2)
    lost = event(task.id, "slice.lost")
    assert (lost.data["seen"], lost.data["exit_status"]) == ("process gone", "signal SIGKILL")
    wait_for_event(task.id, "task.completed")
    print("takeover", (again.at - lost.at).total_seconds())
