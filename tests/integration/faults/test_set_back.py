"""C03: an approval outlives the attempt that a set-back of the database lost; its end takes nothing back."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.services.expire import approvals_expire
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, ApprovalStatus
from chaos_app.world.client import WorldClient
from core.clock import ClockTimestamp
from tasks_app.cluster import cluster_check, cluster_reconcile
from tasks_app.contracts import CallContext
from tasks_app.decisions import Decision, call, wait_until
from tasks_app.models import Call, ClusterIdentity, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.status import CallState, Status
from tasks_app.view import TaskView
from tests import desk
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import effects_of
from tests.outside_tools import Title
from tests.scripts import script, ticket_open

Rigs = Callable[[], Rig]


@script
def publishes_and_waits(view: TaskView) -> Decision:
    if "act" not in view.calls:
        return call("c.ticket_asked", name="act", title=view.intent["title"])
    return wait_until(name="tomorrow", seconds=86_400)


def lapse(one: Rig, request: ApprovalRequest) -> str:
    ApprovalRequest.objects.filter(pk=request.pk).update(run_by=ClockTimestamp() - timedelta(seconds=1))
    assert (approvals_expire(), approvals_expire()) == (1, 0)
    return ApprovalStatus.LAPSED


def revoke(one: Rig, request: ApprovalRequest) -> str:
    person = desk.as_person(one.people.silas, one.people.workspace)
    approval_revoke(approval=request.pk, principal=person, reason="not now")
    return ApprovalStatus.REVOKED


ENDED = pytest.mark.parametrize("end", [lapse, revoke])


def set_back(one: Rig, name: str, *, acted: bool) -> tuple[Task, ApprovalRequest]:
    """Approve a call; its attempt, which the outside has seen or not, is in commits that the database loses."""
    title = fresh()
    task = one.task("case.script", script=name, tool="c.ticket_asked", arguments={"title": title}, title=title)
    one.run(task, until=lambda t: t.status == Status.WAITING)
    request = ApprovalRequest.objects.get(task=task)
    desk.decide(request, one.people.silas, Answer.APPROVED, reason="fine")
    if acted:
        key = Call.objects.get(task=task).key
        ticket_open(
            Title(title=title), CallContext(key=key, task=str(task.pk), name="act", attempt=1, epoch=1, deadline=0.0)
        )
    cluster_check()
    ClusterIdentity.objects.update(timeline=99)
    assert not cluster_check()
    assert cluster_reconcile() == 1
    assert Call.objects.get(task=task).state == CallState.UNKNOWN
    return task, request


def stands(task: Task, request: ApprovalRequest, *, call: str, approval: str) -> None:
    assert Call.objects.get(task=task).state == call
    assert ApprovalRequest.objects.get(pk=request.pk).status == approval
    assert task_differences(task.pk) == []


@ENDED
def test_the_end_of_its_approval_leaves_a_verified_call_verified(
    end: Callable[[Rig, ApprovalRequest], str], rig: Rigs, client: WorldClient
) -> None:
    one = rig()
    task, request = set_back(one, "publishes_and_waits", acted=True)
    one.run(task, until=lambda t: (t.wait or {}).get("kind") == "timer")
    ended = end(one, request)
    stands(task, request, call=CallState.VERIFIED, approval=ended)
    assert kinds(task)[-1] == f"approval.{ended}"
    one.slice(task)
    task.refresh_from_db()
    assert (task.status, task.wait["kind"]) == (Status.WAITING, "timer")
    stands(task, request, call=CallState.VERIFIED, approval=ended)
    assert effects_of(client, task) == 1


@ENDED
def test_the_end_of_its_approval_says_nothing_in_the_record_of_a_task_that_has_ended(
    end: Callable[[Rig, ApprovalRequest], str], rig: Rigs, client: WorldClient
) -> None:
    one = rig()
    task, request = set_back(one, "one", acted=True)
    one.run(task, until=lambda t: t.status == Status.COMPLETED)
    head = task.head_seq
    stands(task, request, call=CallState.VERIFIED, approval=end(one, request))
    task.refresh_from_db()
    assert (task.status, task.head_seq, effects_of(client, task)) == (Status.COMPLETED, head, 1)


@ENDED
@pytest.mark.parametrize(("acted", "state"), [(True, CallState.VERIFIED), (False, CallState.REFUSED)])
def test_a_call_whose_approval_ends_before_it_is_looked_up_is_looked_up_and_not_sent(
    acted: bool, state: str, end: Callable[[Rig, ApprovalRequest], str], rig: Rigs, client: WorldClient
) -> None:
    """E03: what is there is adopted; where it is not, the agent decides afresh."""
    one = rig()
    task, request = set_back(one, "one", acted=acted)
    ended = end(one, request)
    stands(task, request, call=CallState.UNKNOWN, approval=ended)
    one.run(task, until=lambda t: t.status == Status.COMPLETED)
    stands(task, request, call=state, approval=ended)
    assert effects_of(client, task) == acted
