"""A call without effect that a person was asked about: its attempts are in the record, and are counted once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.clock import ClockTimestamp
from tasks_app.contracts import CallContext
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.registry import tool
from tasks_app.status import CallState, Status
from tests import desk
from tests.integration.runtime.conftest import Rig, kinds
from tests.outside_tools import QUICK, Sku

Rigs = Callable[[], Rig]
FIRST: list[Callable[[CallContext], None]] = []  # what happens while the next try runs


@tool("a.read", arguments=Sku, effect_class="none", asks=True, attempts=3, **QUICK)
def read(args: Sku, context: CallContext) -> Any:
    if FIRST:
        FIRST.pop(0)(context)
    return 7


def down(context: CallContext) -> None:
    raise OSError(f"try {context.attempt}: 503")


def lost(context: CallContext) -> None:
    task = Task.objects.get(pk=context.task)
    assert task.lease_nonce is not None
    assert lease_lose(task=task.pk, nonce=task.lease_nonce, loss=Loss(seen="lease ran out"), actor="sweeper")


def approved(one: Rig, *happens: Callable[[CallContext], None]) -> Task:
    FIRST[:] = happens
    task = one.task("case.script", script="one", tool="a.read", arguments={"sku": "B-9"})
    one.run(task, until=lambda t: t.status == Status.WAITING)
    desk.decide(ApprovalRequest.objects.get(task=task), one.people.silas, Answer.APPROVED, reason="fine")
    return one.run(task, until=lambda t: t.status == Status.COMPLETED)


def too_late(context: CallContext) -> None:
    past = ClockTimestamp() - timedelta(seconds=1)
    ApprovalRequest.objects.filter(task=context.task).update(run_by=past)
    raise OSError("503")


def numbers(task: Task, kind: str) -> list[int]:
    return [e.data["attempt"] for e in Event.objects.filter(stream=task.pk, kind=kind).order_by("seq")]


@pytest.mark.parametrize(
    ("failing", "state"), [(0, CallState.ANSWERED), (2, CallState.ANSWERED), (3, CallState.REFUSED)]
)
def test_each_outcome_is_that_of_its_attempt_and_all_tries_are_made(failing: int, state: CallState, rig: Rigs) -> None:
    task = approved(rig(), *[down] * failing)
    tries = list(range(1, min(failing + 1, 3) + 1))
    assert numbers(task, "call.attempted") == numbers(task, "call.outcome") == tries
    row = Call.objects.get(task=task)
    assert (row.state, row.attempts) == (state, len(tries))
    assert task_differences(task.pk) == []


def test_an_answer_that_a_lost_worker_brings_is_its_attempts_late_receipt(rig: Rigs) -> None:
    """L05: it is not run again."""
    task = approved(rig(), lost)
    assert (numbers(task, "call.attempted"), numbers(task, "call.late_receipt")) == ([1], [1])
    assert (Call.objects.get(task=task).state, "call.outcome" in kinds(task)) == (CallState.ANSWERED, False)
    assert task_differences(task.pk) == []


@pytest.mark.timeout(60)
def test_once_its_approval_is_too_old_it_is_withdrawn_and_not_asked_about_for_ever(rig: Rigs) -> None:
    """A05: T1 refuses its next try, once."""
    task = approved(rig(), too_late)
    assert Call.objects.get(task=task).state == CallState.WITHDRAWN
    refused = Event.objects.filter(stream=task.pk, kind="call.resume_decided", data__look_first=True)
    assert (numbers(task, "call.attempted"), refused.count()) == ([1], 1)
    assert task_differences(task.pk) == []
