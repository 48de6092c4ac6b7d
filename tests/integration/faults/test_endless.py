"""What must not go on for ever: a cancelled task whose reads had no answer."""

from collections.abc import Callable
from typing import Any

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.registry import tool
from tasks_app.services.cancel import task_cancel
from tasks_app.status import CallState, Status
from tests import desk
from tests.integration.runtime.conftest import Rig, kinds
from tests.outside_tools import QUICK, Sku

Rigs = Callable[[], Rig]


@tool("e.read", arguments=Sku, effect_class="none", attempts=3, **QUICK)
def read(args: Sku, context: Any) -> Any:
    raise OSError("503")


@tool("e.read_asked", arguments=Sku, effect_class="none", asks=True, **QUICK)
def read_asked(args: Sku, context: Any) -> Any:
    return 7


def reading(one: Rig, name: str) -> Task:
    return one.task("case.script", script="one", tool=name, arguments={"sku": "B-9"})


def cancelled(one: Rig, task: Task) -> Call:
    """Cancel it, and let a worker run it once more."""
    task_cancel(workspace=task.workspace, task=task.pk, actor="person:silas", reason="enough")
    assert Task.objects.get(pk=task.pk).status == Status.CANCELLING
    one.slice(task)
    task.refresh_from_db()
    assert (task.status, task.lease_nonce, task_differences(task.pk)) == (Status.CANCELLED, None, [])
    return Call.objects.get(task=task)


def test_a_read_that_had_no_answer_ends_with_its_cancelled_task(rig: Rigs) -> None:
    """R03: between two of its tries."""
    one = rig()
    task = one.run(reading(one, "e.read"), until=lambda t: "call.outcome" in kinds(t))
    assert Call.objects.get(task=task).state == CallState.UNKNOWN
    assert cancelled(one, task).state == CallState.WITHDRAWN
    assert kinds(task).count("call.outcome") == 1


def test_a_read_that_was_approved_and_whose_worker_died_ends_with_its_cancelled_task(rig: Rigs) -> None:
    """R03, E02: its attempt is in the record, since a person was asked, and nothing outside is to be settled."""
    one = rig()
    task = one.run(reading(one, "e.read_asked"), until=lambda t: t.status == Status.WAITING)
    desk.decide(ApprovalRequest.objects.get(task=task), one.people.silas, Answer.APPROVED, reason="fine")
    one.die_at = ("E02", "before_send", 1)
    one.slice(task)
    assert (one.died, Call.objects.get(task=task).state) == (True, CallState.ATTEMPTED)
    assert cancelled(one, task).state == CallState.WITHDRAWN
    rule = Event.objects.get(stream=task.pk, kind="call.resume_decided")
    assert rule.data["move"] == "withdraw"
