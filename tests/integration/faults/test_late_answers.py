"""An answer that arrives late, at the very moment at which the next worker decides about its call: it stands."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from approvals_app.gate import ApprovalsGate
from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer as Decided
from chaos_app.world.client import WorldClient
from core import boundaries
from core.boundaries import Crossing
from tasks_app.contracts import Answer, CallContext
from tasks_app.decisions import Decision, call, calls, complete
from tasks_app.executor import slice_run
from tasks_app.gate import Admission
from tasks_app.leases import Lease, lease_claim
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, Event, Task
from tasks_app.record.events import CallOutcome
from tasks_app.record.late import late_keep
from tasks_app.record.rebuild import task_differences
from tasks_app.registry import tool
from tasks_app.services.cancel import task_cancel
from tasks_app.status import CallState, Status
from tasks_app.testing import StillKeeper
from tasks_app.view import TaskView
from tests import desk
from tests.integration.runtime.conftest import Death, Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of
from tests.outside_tools import QUICK, Sku
from tests.scripts import script

Rigs = Callable[[], Rig]
MORE_ENDS = ENDS | {Status.CANCELLED}


class Lost:
    """The first worker: dead with its answer in hand, which it tells whenever the test says."""

    def __init__(self, one: Rig, task: Task) -> None:
        self.task = task
        lease = lease_claim(task=task.pk, worker=one.worker)
        assert lease is not None
        self.lease: Lease = lease
        self.told = 0

    def die(self, boundary: str, position: str) -> None:
        def handle(crossing: Crossing) -> None:
            if (crossing.boundary, crossing.position, crossing.call) == (boundary, position, "act"):
                raise Death

        boundaries.install(handle)
        try:
            with pytest.raises(Death):
                slice_run(lease=self.lease, keeper=StillKeeper(), drain=lambda: False)
        finally:
            boundaries.install(None)
        loss = Loss(seen="lease ran out")
        assert lease_lose(task=self.task.pk, nonce=self.lease.token.nonce, loss=loss, actor="sweeper")

    def answer(self, outcome: str = "ok") -> None:
        """Say what the first attempt had brought; once."""
        self.told += 1
        if self.told == 1:
            said = CallOutcome(name="act", attempt=1, outcome=outcome, result={"id": "late"}, reference="late")
            late_keep(stream=self.task.pk, events=[said], actor="worker:lost", token=self.lease.token)

    def answer_at(self, one: Rig, boundary: str, position: str = "before") -> None:
        """Have the next worker pass this place just after the answer has arrived."""
        usual = one.handle

        def handle(crossing: Crossing) -> None:
            usual(crossing)
            if (crossing.boundary, crossing.position, crossing.call) == (boundary, position, "act"):
                self.answer()

        one.handle = handle  # type: ignore[method-assign]


def lost_with_an_answer(one: Rig, tool: str, **arguments: object) -> Lost:
    task = one.task("case.script", script="one", title=fresh(), tool=tool, arguments=arguments)
    lost = Lost(one, task)
    lost.die("E05", "before")
    return lost


def row_of(task: Task) -> Call:
    return Call.objects.get(task=task, name="act")


def receipt_of(task: Task) -> Event:
    return Event.objects.get(stream=task.pk, kind="call.late_receipt")


def test_a_doubt_is_not_written_over_an_answer_that_has_just_arrived(rig: Rigs, client: WorldClient) -> None:
    """L05: nobody is asked what happened where the line above says it."""
    one = rig()
    lost = lost_with_an_answer(one, "t.pay", payee=fresh(), cents=1)
    lost.answer_at(one, "E09")
    task = one.run(lost.task, until=lambda t: t.status in ENDS)
    assert (row_of(task).state, task.status, lost.told) == (CallState.ANSWERED, Status.COMPLETED, 1)
    assert not {"call.in_doubt", "call.resume_decided"} & set(kinds(task)), "a rule of before the answer"
    assert (receipt_of(task).data["closes_doubt"], effects_of(client, task)) == (True, 1)
    assert task_differences(task.pk) == []


@pytest.mark.parametrize("shown", [True, False], ids=["seen", "not seen yet"])
def test_what_a_look_up_saw_is_not_written_over_an_answer_that_has_just_arrived(
    shown: bool, rig: Rigs, client: WorldClient
) -> None:
    """E09: neither adopted a second time, nor sent again because the look-up did not see it yet."""
    one = rig()
    lost = lost_with_an_answer(one, "c.ticket_readable", title=fresh())
    if not shown:
        client.arm("tickets", "hide", match={"operation": "lookup"})
    lost.answer_at(one, "E09")
    task = one.run(lost.task, until=lambda t: t.status in ENDS)
    assert (row_of(task).state, row_of(task).reference, task.status) == (CallState.ANSWERED, "late", Status.COMPLETED)
    assert (kinds(task).count("call.attempted"), "call.observed" in kinds(task)) == (1, False)
    assert row_of(task).settled_seq == receipt_of(task).seq
    assert task_differences(task.pk) == []


def test_a_refused_resend_is_not_looked_for_where_the_answer_has_just_arrived(
    rig: Rigs, client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E03: the gate says no to the second attempt of an approved call while the first one's answer comes in."""
    one = rig()
    task = one.task("case.script", script="one", tool="c.ticket_asked", arguments={"title": fresh()})
    one.run(task, until=lambda t: t.status == Status.WAITING)
    desk.decide(ApprovalRequest.objects.get(task=task), one.people.silas, Decided.APPROVED, reason="fine")
    lost = Lost(one, task)
    lost.die("E02", "before_send")
    admit = ApprovalsGate.admit

    def refuse_again(self: ApprovalsGate, **given: Any) -> Admission:
        return admit(self, **given) if given["first"] else Admission(admitted=False, reason="taken back")

    monkeypatch.setattr(ApprovalsGate, "admit", refuse_again)
    lost.answer_at(one, "D02")
    one.run(task, until=lambda t: t.status in ENDS)
    assert (row_of(task).state, row_of(task).look_first, task.status) == (CallState.ANSWERED, False, Status.COMPLETED)
    assert kinds(task).count("call.observed") == 1, "before the resend, not after the answer"
    assert task_differences(task.pk) == []


@pytest.mark.parametrize("second", ["unknown", "refused", "ok"])
def test_a_second_attempt_that_was_in_flight_lowers_no_answer_of_the_first(
    second: str, rig: Rigs, client: WorldClient
) -> None:
    """E06: its outcome is told; the call stays answered, and the worker goes on."""
    one = rig()
    lost = lost_with_an_answer(one, "c.ticket_forgotten", title=fresh())
    faults = {"unknown": "lose_answer", "refused": "refuse"}
    if second in faults:
        client.arm("tickets", faults[second], match={"call": f"{lost.task.pk}/act"})
    lost.answer_at(one, "E02", "before_send")
    task = one.run(lost.task, until=lambda t: t.status in ENDS)
    outcome = Event.objects.get(stream=task.pk, kind="call.outcome")
    assert (outcome.data["attempt"], outcome.data["outcome"], outcome.seq > receipt_of(task).seq) == (2, second, True)
    assert (row_of(task).state, row_of(task).settled_seq) == (CallState.ANSWERED, receipt_of(task).seq)
    assert (task.status, task.losses, effects_of(client, task)) == (Status.COMPLETED, 0, 1)
    assert kinds(task).count("slice.lost") == 1
    assert task_differences(task.pk) == []


def test_an_answer_that_is_still_to_be_read_back_is_not_lowered_either(rig: Rigs, client: WorldClient) -> None:
    """E08: it is read back, as any other."""
    one = rig()
    lost = lost_with_an_answer(one, "c.ticket_counted", title=fresh())
    client.arm("tickets", "lose_answer", match={"call": f"{lost.task.pk}/act"})
    lost.answer_at(one, "E02", "before_send")
    task = one.run(lost.task, until=lambda t: t.status in ENDS)
    assert (row_of(task).state, task.status) == (CallState.VERIFIED, Status.COMPLETED)
    assert Event.objects.get(stream=task.pk, kind="call.outcome").data["outcome"] == "unknown"
    assert [k for k in kinds(task) if k.startswith("call.")][-3:] == [
        "call.late_receipt",
        "call.outcome",
        "call.verified",
    ]
    assert task_differences(task.pk) == []


IN_TIME = threading.Event()


@tool("late.read", arguments=Sku, effect_class="none", **QUICK)
def read_slowly(args: Sku, context: CallContext) -> Answer:
    assert IN_TIME.wait(0.9)
    return Answer(result=3)


@script
def reads_and_acts(view: TaskView) -> Decision:
    if "act" not in view.calls:
        ticket = call("c.ticket_forgotten", name="act", title=view.intent["title"])
        return calls(call("late.read", name="read", sku="B-9"), ticket)
    return complete()


def test_a_read_that_a_cancel_withdrew_while_it_ran_is_told_and_changes_nothing(rig: Rigs, client: WorldClient) -> None:
    """R03: beside an act whose outcome is recorded first, so that the worker has learned of the cancel."""
    one = rig()
    task, usual = one.task("case.script", script="reads_and_acts", title=fresh()), one.handle

    def cancel(crossing: Crossing) -> None:
        usual(crossing)
        if (crossing.boundary, crossing.position, crossing.call) == ("E05", "before", "act") and not IN_TIME.is_set():
            task_cancel(workspace=task.workspace, task=task.pk, actor="person:silas", reason="enough")
            IN_TIME.set()

    one.handle = cancel  # type: ignore[method-assign]
    one.run(task, until=lambda t: t.status in MORE_ENDS)
    states: dict[str, Any] = dict(Call.objects.filter(task=task).values_list("name", "state"))
    assert states == {"read": CallState.WITHDRAWN, "act": CallState.ANSWERED}
    assert (task.status, effects_of(client, task)) == (Status.CANCELLED, 1)
    assert {e.data["name"] for e in Event.objects.filter(stream=task.pk, kind="call.outcome")} == {"read", "act"}
    assert task_differences(task.pk) == []
