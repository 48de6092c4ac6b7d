"""A stop and what is being asked at the same moment: "deny all and pause this agent" is followed by no card."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from approvals_app.models import ApprovalRequest
from approvals_app.services.caps import CAP_LOCK
from approvals_app.services.together import Denied, approvals_deny_group
from approvals_app.status import Via
from tasks_app.models import StopSwitch, Task
from tasks_app.record.append import Stale
from tasks_app.services.stops import STOP_LOCK
from tests.desk import CLEAN, Desk, as_person, claim, propose, task_create
from tests.locks import locks_awaited
from tests.processes import wait_for


def in_thread[Result](work: Callable[[], Result]) -> tuple[threading.Thread, list[Result]]:
    """Do this over a connection of its own; return the thread and where its result will be."""
    results: list[Result] = []

    def run() -> None:
        try:
            results.append(work())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def deny_all(desk: Desk) -> Denied:
    return approvals_deny_group(
        principal=as_person(desk.silas, desk.workspace),
        agent="desk.agent",
        tool="desk.clean",
        rule="contract",
        reason="it runs away",
        via=Via.PAGE,
    )


def ask(desk: Desk) -> Callable[[], ApprovalRequest | str | None]:
    """Return the asking of a task of the agent, which gives the refusal where there is one."""
    task = task_create(desk)
    token = claim(task)

    def asking() -> Any:
        try:
            return propose(task, CLEAN, "clean", {"path": "/scratch/a"}, token=token)
        except Stale as stale:
            return stale.refusal

    return asking


@pytest.mark.parametrize("many", [1, 3])
def test_what_queued_at_the_agents_cap_when_everything_was_denied_is_denied_too(desk: Desk, many: int):
    asked = [ask(desk) for _ in range(many)]
    with transaction.atomic():
        with connection.cursor() as cursor:
            key = f"{desk.workspace.pk}/desk.agent"
            cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [CAP_LOCK, key])
        asking = [in_thread(one) for one in asked]
        wait_for(lambda: locks_awaited(CAP_LOCK) == many, what="the requests to queue")
        denying, denied = in_thread(lambda: deny_all(desk))
        wait_for(
            lambda: denied or locks_awaited(STOP_LOCK), what="the denial to be done, or to wait for those before it"
        )
    for thread, _ in (*asking, (denying, denied)):
        thread.join(30)
    assert StopSwitch.objects.filter(scope="agent", name="desk.agent").exists()
    assert [denied[0].count, *(row.status for row in ApprovalRequest.objects.all())] == [many, *["denied"] * many]


def test_whoever_asks_while_a_stop_is_being_set_waits_for_it_and_is_stopped(desk: Desk):
    asked = ask(desk)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [STOP_LOCK])
        thread, said = in_thread(asked)
        wait_for(lambda: said or locks_awaited(STOP_LOCK), what="the request to wait")
        StopSwitch.objects.create(
            scope="agent", workspace=desk.workspace, name="desk.agent", reason="x", set_by=desk.silas
        )
    thread.join(30)
    assert said == ["stopped: agent desk.agent"]
    assert not ApprovalRequest.objects.exists()
    assert Task.objects.get().status == "running"
