"""Guarantees that each hold alone: a test here turns red when its guarantee is taken out of the runtime."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from approvals_app.gate import ApprovalsGate
from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from chaos_app.world.client import WorldClient
from core import boundaries
from core.clock import database_now
from tasks_app.decisions import Decision, call, complete
from tasks_app.executor import slice_run
from tasks_app.leases import Lease, lease_claim
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, Event, LateWrite, Task
from tasks_app.record.append import Stale, append
from tasks_app.record.events import CheckpointAdvanced, StepDecided
from tasks_app.services.cancel import task_cancel
from tasks_app.services.settle import call_settle
from tasks_app.services.signal import signal_send
from tasks_app.services.stops import stop_lift, stop_set
from tasks_app.status import CallState, Status
from tasks_app.testing import StillKeeper
from tasks_app.view import TaskView
from tests import desk
from tests.integration.runtime.conftest import SEND, Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.locks import lock_is_awaited
from tests.processes import wait_for
from tests.scripts import script

Rigs = Callable[[], Rig]


def claimed(one: Rig, task: Task) -> Lease:
    lease = lease_claim(task=task.pk, worker=one.worker)
    assert lease is not None
    return lease


def taken_over(one: Rig, lease: Lease) -> Lease:
    """Lose a lease and claim the task anew."""
    lost = lease_lose(task=lease.task, nonce=lease.token.nonce, loss=Loss(seen="lease ran out"), actor="sweeper")
    assert lost
    return claimed(one, Task.objects.get(pk=lease.task))


def row_of(task: Task) -> dict[str, Any]:
    return Task.objects.filter(pk=task.pk).values("status", "lease_nonce", "lease_epoch", "wake_at", "head_seq").get()


def test_an_append_that_expects_another_head_changes_nothing(rig: Rigs) -> None:
    """S8, S11: somebody appended in between, so the worker must read again before it goes on."""
    one = rig()
    task = one.task(**intent_of("keyed", 0))
    lease = claimed(one, task)
    signal_send(workspace=task.workspace, task=task.pk, actor="person:silas", name="go", payload=1)
    before = row_of(task)
    event = CheckpointAdvanced(step=1)
    with pytest.raises(Stale) as stale:
        append(stream=task.pk, events=[event], actor="worker:w", token=lease.token, expected=lease.head_seq, task={})
    assert stale.value.refusal == "moved"
    assert (row_of(task), kinds(task)[-1]) == (before, "signal.received")


def test_an_append_under_a_lost_token_changes_nothing_even_at_the_right_head(rig: Rigs) -> None:
    """S7: the token alone decides."""
    one = rig()
    task = one.task(**intent_of("keyed", 0))
    old = claimed(one, task)
    new = taken_over(one, old)
    event = StepDecided(step=1, does="state")
    with pytest.raises(Stale) as stale:
        append(stream=task.pk, events=[event], actor="worker:w", token=old.token, expected=new.head_seq, task={})
    assert stale.value.fenced
    assert kinds(task)[-1] == "slice.claimed"


def test_a_release_under_a_lost_token_changes_nothing_and_is_kept_as_a_late_write(rig: Rigs) -> None:
    """L05: a worker that hands over what another worker holds by now."""
    one = rig()
    task = one.task(**intent_of("keyed", 0))
    old = claimed(one, task)
    held: list[Lease] = []

    def drain() -> bool:
        held.append(taken_over(one, old))
        return True

    slice_run(lease=old, keeper=StillKeeper(), drain=drain)
    row = Task.objects.get(pk=task.pk)
    assert (row.status, row.lease_epoch, row.lease_nonce) == (Status.RUNNING, 2, held[0].token.nonce)
    assert kinds(task)[-1] == "slice.claimed"
    kept = LateWrite.objects.get(stream=task.pk, kind="slice.released")
    assert (kept.held_epoch, kept.presented_epoch) == (2, 1)


def test_an_answer_that_comes_when_the_task_has_ended_without_its_worker_is_kept(
    rig: Rigs, client: WorldClient
) -> None:
    """L05: the old worker holds an answer while another epoch asks a person and goes on to the end."""
    one = rig()
    task = one.task("case.script", script="one", tool="t.pay", arguments={"payee": fresh(), "cents": 1})
    old = claimed(one, task)
    ended: list[str] = []

    def meanwhile(crossing: Any) -> None:
        if crossing.boundary != "E05" or ended:
            return
        ended.append("begun")
        boundaries.install(None)
        new = taken_over(one, old)
        slice_run(lease=new, keeper=StillKeeper(), drain=lambda: False)
        settle = {"workspace": task.workspace, "task": task.pk, "name": "act", "actor": "person:silas"}
        call_settle(**settle, answer="unknown", evidence="nobody knows")
        slice_run(lease=claimed(one, task), keeper=StillKeeper(), drain=lambda: False)
        ended.append(Task.objects.get(pk=task.pk).status)

    boundaries.install(meanwhile)
    try:
        slice_run(lease=old, keeper=StillKeeper(), drain=lambda: False)
    finally:
        boundaries.install(None)
    assert ended[1] in {Status.COMPLETED, Status.UNVERIFIED}
    receipt = Event.objects.get(stream=task.pk, kind="call.late_receipt")
    assert (receipt.data["held_epoch"], receipt.data["outcome"], receipt.data["closes_doubt"]) == (1, "ok", False)
    assert LateWrite.objects.filter(stream=task.pk, kind="call.outcome", presented_epoch=1).exists()


def test_a_result_is_in_the_record_before_anything_reads_it(rig: Rigs, client: WorldClient) -> None:
    """Commit B: a worker that dies at the read-back leaves an outcome, and nothing is sent again."""
    one = rig()
    one.die_at = ("E08", "before", 1)
    task = one.task(**intent_of("keyed", 0))
    one.slice(task)
    assert one.died
    outcome = Event.objects.get(stream=task.pk, kind="call.outcome", data__name="act")
    assert (outcome.data["outcome"], Call.objects.get(task=task, name="act").state) == ("ok", CallState.OK)
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, kinds(task).count("call.attempted"), effects_of(client, task)) == (Status.COMPLETED, 1, 1)


def asked_and_approved(one: Rig) -> Task:
    task = one.task(**intent_of("asked", 0))
    one.run(task, until=lambda t: t.status == Status.WAITING)
    desk.decide(ApprovalRequest.objects.get(task=task), one.people.silas, Answer.APPROVED, reason="fine")
    return task


def test_an_attempt_that_is_refused_gives_its_approval_back(rig: Rigs, client: WorldClient) -> None:
    """T1 is one transaction: what stops the attempt rolls the consumption back (A06, S3, S4)."""
    one = rig()
    task = asked_and_approved(one)
    where = {"workspace": task.workspace, "user": one.people.silas, "actor": "person:silas", "reason": "a look"}
    stop = stop_set(scope="tool", name="t.pay_asked", **where)
    one.run(task, until=lambda t: (t.wait or {}).get("kind") == "stop")
    assert ApprovalRequest.objects.get(task=task).status == "approved"
    assert effects_of(client, task) == 0
    stop_lift(stop=stop.switch.pk, **where)
    one.run(task, until=lambda t: t.status in ENDS)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    assert kinds(task).count("approval.consumed") == 1


def test_t1_locks_the_task_before_the_approval_so_that_a_cancel_waits_for_it(
    rig: Rigs, client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R03: cancel takes task, then approval; the other way round the two would wait for each other for ever."""
    one = rig()
    task = asked_and_approved(one)
    told: list[str] = []
    admit = ApprovalsGate.admit

    def cancel() -> None:
        try:
            task_cancel(workspace=task.workspace, task=task.pk, actor="person:silas", reason="enough")
            told.append("cancelled")
        except Exception as error:
            told.append(repr(error))
        finally:
            connection.close()

    rival = threading.Thread(target=cancel)

    def admit_slowly(self: ApprovalsGate, **given: Any) -> Any:
        """Hold the approval's lock until the cancel waits for a lock."""
        said = admit(self, **given)
        rival.start()
        wait_for(lock_is_awaited, what="the cancel to wait")
        return said

    monkeypatch.setattr(ApprovalsGate, "admit", admit_slowly)
    one.slice(task)
    rival.join()
    monkeypatch.undo()
    assert told == ["cancelled"]
    one.run(task, until=lambda t: t.status in ENDS | {Status.CANCELLED})
    order = [k for k in kinds(task) if k in {"approval.consumed", "call.attempted", "task.cancel_requested"}]
    assert order == ["approval.consumed", "call.attempted", "task.cancel_requested"]
    assert effects_of(client, task) == 1


@script
def acts_on_time(view: TaskView) -> Decision:
    if "act" not in view.calls:
        return call("c.ticket_readable", name="act", title=view.intent["title"])
    return complete()


def test_nothing_is_sent_after_send_by(rig: Rigs, client: WorldClient) -> None:
    """L06: a worker that comes back late from between the commit and the send."""
    one = rig()
    late: list[bool] = []
    handle = one.handle

    def stall(crossing: Any) -> None:
        handle(crossing)
        if crossing.boundary == "E02" and not late:
            late.append(True)
            threading.Event().wait(SEND + 0.2)

    one.handle = stall  # type: ignore[method-assign]
    task = one.task("case.script", script="acts_on_time", title=fresh())
    one.run(task, until=lambda t: t.status in ENDS)
    first = Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq")[0]
    assert first.data["sent"] is False
    arrivals = [a for a in client.ledger(call=f"{task.pk}/act").arrivals if a.acts]
    assert [a.attempt for a in arrivals] == [2]
    assert database_now() - first.at < timedelta(minutes=5)
