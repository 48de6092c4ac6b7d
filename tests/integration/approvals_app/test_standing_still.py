"""Whoever is stopped while a transaction of theirs holds a task's row keeps it no longer than a lease."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.test import override_settings
from pydantic import BaseModel

from approvals_app.models import ApprovalRequest
from approvals_app.services.locks import approval_lock
from tasks_app.contracts import Answer, CallContext
from tasks_app.decisions import Decision, call, complete
from tasks_app.executor import slice_run
from tasks_app.leases import lease_claim
from tasks_app.models import Task
from tasks_app.registry import agent, tool
from tasks_app.runtime import attempting
from tasks_app.services.command import command
from tasks_app.services.create import task_create
from tasks_app.testing import StillKeeper, task_run, worker_here
from tasks_app.view import TaskView
from tests.desk import Desk, decide, kinds
from tests.here import HERE
from tests.processes import wait_for

BOUND = 2.0  # seconds
Stall = Callable[[], None]


class Path(BaseModel):
    path: str


@tool("still.wipe", arguments=Path, effect_class="keyed", asks=True, **HERE)
def wipe(args: Path, context: CallContext) -> Answer:
    return Answer(result=args.path, reference=args.path)


@agent("still.wiper")
def wiper(view: TaskView) -> Decision:
    return complete() if "wipe" in view.calls else call("still.wipe", name="wipe", path="/a")


def operator(request: ApprovalRequest, stall: Stall) -> None:
    with command(workspace=request.task.workspace, task=request.task_id, actor="person:rhea"):
        stall()
        Task.objects.count()


def decider(request: ApprovalRequest, stall: Stall) -> None:
    with transaction.atomic():
        approval_lock(request.pk)
        stall()
        Task.objects.count()


def attempt(request: ApprovalRequest, stall: Stall) -> None:
    """T1, the transaction that uses an approval and begins the attempt."""
    real = attempting.gate()

    class Stalled:
        def admit(self, **said: Any) -> Any:
            stall()
            return real.admit(**said)

    with pytest.MonkeyPatch.context() as patch, override_settings(LEASE_SECONDS=60):
        lease = lease_claim(task=request.task_id, worker=worker_here())
        assert lease is not None
        patch.setattr(attempting, "gate", Stalled)
        settings.LEASE_SECONDS = BOUND
        slice_run(lease=lease, keeper=StillKeeper(), drain=lambda: False)


@pytest.mark.parametrize("holder", [operator, decider, attempt])
def test_who_stands_still_within_a_transaction_gives_the_row_back(desk: Desk, holder: Any) -> None:
    started = task_create(
        workspace=desk.workspace, owner=desk.owen, actor="person:owen", agent="still.wiper", intent={}
    )
    task_run(started.pk, worker_here())
    request = ApprovalRequest.objects.select_related("task__workspace").get(task=started)
    decide(request, desk.rhea)
    stands, go, problems = threading.Event(), threading.Event(), []

    def stall() -> None:
        stands.set()
        go.wait(30)

    def hold() -> None:
        try:
            with override_settings(LEASE_SECONDS=BOUND):
                holder(request, stall)
        except DatabaseError as error:
            problems.append(error)
        finally:
            connection.close()

    def free() -> bool:
        return Task.objects.select_for_update(skip_locked=True).filter(pk=request.task_id).exists()

    stopped = threading.Thread(target=hold)
    stopped.start()
    try:
        assert stands.wait(10)
        with transaction.atomic():
            assert not free()
        with transaction.atomic():
            wait_for(free, seconds=10, what="the row to be free")
    finally:
        go.set()
        stopped.join()
    assert len(problems) == 1
    assert "call.attempted" not in kinds(request.task_id)
