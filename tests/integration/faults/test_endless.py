"""What must not go on for ever: a cancelled task whose reads had no answer, long work that nobody answers for."""

from collections.abc import Callable
from typing import Any

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.clock import ClockTimestamp
from tasks_app.contracts import Answer as Answered
from tasks_app.contracts import Started, Unknown
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.registry import tool
from tasks_app.resume import POLLS
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


WORK: list[Any] = []  # what the next polls say, one after the other; then nothing is heard of it


def work_start(args: Sku, context: Any) -> Started:
    return Started(handle="job-7", poll_after=0.0)


def work_poll(handle: str) -> Any:
    said = WORK.pop(0) if WORK else OSError("503")
    if isinstance(said, Exception):
        raise said
    return said


tool("e.work", arguments=Sku, effect_class="keyed", start=work_start, poll=work_poll, **QUICK)(work_start)


def asked_for(one: Rig, task: Task, times: int) -> None:
    """Ask for long work so often, each time when its pause is over."""
    for _ in range(times):
        Call.objects.filter(task=task, state=CallState.STARTED).update(next_look_at=ClockTimestamp())
        Task.objects.filter(pk=task.pk, wake_at__isnull=False).update(wake_at=ClockTimestamp())
        one.slice(task)
    task.refresh_from_db()


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


def working(one: Rig) -> Task:
    """A task whose long work has begun, and of which nothing was asked yet."""
    WORK[:] = [Started(handle="job-7", poll_after=60.0)]
    return one.run(
        reading(one, "e.work"), until=lambda t: Call.objects.filter(task=t, state=CallState.STARTED).exists()
    )


def test_long_work_that_never_answers_is_asked_for_less_and_less_often_and_then_a_person_is(rig: Rigs) -> None:
    """E09: it may go on or not; nobody waits for it without knowing."""
    one = rig()
    task = working(one)
    WORK[:] = []
    asked_for(one, task, POLLS - 1)
    assert (Call.objects.get(task=task).state, task_differences(task.pk)) == (CallState.STARTED, [])
    asked_for(one, task, 1)
    assert (task.status, Call.objects.get(task=task).state) == (Status.IN_DOUBT, CallState.IN_DOUBT)
    looks = Event.objects.filter(stream=task.pk, kind="call.observed").order_by("seq")
    assert [(e.data["answer"], e.data["move"]) for e in looks] == [("cannot tell", "wait")] * (POLLS - 1) + [
        ("cannot tell", "doubt")
    ]
    assert "503" in looks[0].data["reason"]
    assert "12 polls in a row" in Event.objects.get(stream=task.pk, kind="call.in_doubt").data["reason"]
    assert task_differences(task.pk) == []


def test_long_work_that_fails_to_answer_now_and_then_is_no_doubt(rig: Rigs) -> None:
    """E09: each answer begins the count anew."""
    one = rig()
    task = working(one)
    silence = [OSError("503"), Unknown("busy")]
    runs = Started(handle="job-7", poll_after=60.0)
    WORK[:] = [*silence, runs] * POLLS + [*silence, Answered(result="done")]
    asked_for(one, task, len(WORK))
    assert (task.status, Call.objects.get(task=task).state) == (Status.COMPLETED, CallState.ANSWERED)
    assert "call.in_doubt" not in kinds(task)
    assert task_differences(task.pk) == []
