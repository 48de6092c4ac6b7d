"""What an answer changes in the task's row, for each state that a task can be in."""

import pytest

from approvals_app.changes import task_wakes
from tasks_app.record.events import After
from tasks_app.status import Status


@pytest.mark.parametrize("status", list(Status))
def test_an_answer_makes_a_parked_task_due_and_takes_nothing_from_anybody(status):
    change = task_wakes(status)
    if status == Status.WAITING:
        assert change == {"status": Status.QUEUED, "wait": None, "wake_at": After(0)}
    elif status in {Status.IN_DOUBT, Status.QUEUED}:
        assert change == {"wake_at": After(0)}
    else:
        assert change == {}
