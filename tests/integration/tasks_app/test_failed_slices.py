"""A slice that fails gives its task back, says why, and counts; only a database that is away is nobody's fault."""

import pytest

from tests.integration.tasks_app.conftest import wait_for_event

pytestmark = pytest.mark.timeout(300)  # a busy machine takes long to start a worker


def test_an_executor_that_fails_gives_the_task_back_at_once_and_says_why(fleet):
    fleet.worker("one")
    task = fleet.task("fail", "finish")
    lost = wait_for_event(task.id, "slice.lost")
    assert lost.data["seen"] == "executor failed: ValueError"
    assert "a mistake in the executor" in lost.data["log_tail"][-1]
    wait_for_event(task.id, "task.completed")


def test_an_internal_error_of_the_slices_own_making_counts_like_any_other(fleet):
    fleet.worker("one")
    task = fleet.task("abort", "finish")
    lost = wait_for_event(task.id, "slice.lost")
    assert (lost.data["seen"], lost.data["counted"]) == ("executor failed: InternalError", True)
    wait_for_event(task.id, "task.completed")
