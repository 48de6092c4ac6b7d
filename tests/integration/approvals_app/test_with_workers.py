"""Approvals in the hands of the real executor: parked, answered, used once, refused; across restarts of everything."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from pydantic import BaseModel

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.clock import ClockTimestamp
from core.port import free
from tasks_app import wake
from tasks_app.contracts import Answer as ToolAnswer
from tasks_app.contracts import CallContext, Unknown
from tasks_app.decisions import Decision, call, calls, complete
from tasks_app.models import Call, Event, Status, Task
from tasks_app.registry import agent, tool
from tasks_app.services.cancel import task_cancel
from tasks_app.services.create import task_create
from tasks_app.testing import slice_here, task_run, worker_here
from tasks_app.view import TaskView
from tests.desk import Desk, decide, kinds
from tests.here import HERE

DONE: list[str] = []  # what acted outside; its own count, not the record's
MEANWHILE: list[Callable[[], None]] = []  # what happens while a call is under way, once


class Path(BaseModel):
    path: str


@tool("desk.wipe", arguments=Path, effect_class="keyed", asks=True, timeout=1.0, lag=0.1, **HERE)
def wipe(args: Path, context: CallContext) -> ToolAnswer:
    """Wipe a folder."""
    DONE.append(f"wipe {args.path}")
    while MEANWHILE:
        MEANWHILE.pop()()
    if args.path == "/unknown":
        raise Unknown("HTTP 502")
    return ToolAnswer(result="wiped")


@tool("desk.look", arguments=Path, effect_class="keyed", timeout=1.0, lag=0.1, **HERE)
def look(args: Path, context: CallContext) -> ToolAnswer:
    """Look at a folder."""
    DONE.append(f"look {args.path}")
    return ToolAnswer(result="full")


@agent("desk.wiper")
def wiper(view: TaskView) -> Decision:
    """Wipe one folder; after a refusal propose the very same again, under another name."""
    if "wipe" not in view.calls:
        return call("desk.wipe", name="wipe", path=view.intent["path"], note="It is 98 % full.")
    if not view.calls["wipe"].ok and "again" not in view.calls:
        return call("desk.wipe", name="again", path=view.intent["path"])
    return complete(summary="done")


@agent("desk.four")
def four(view: TaskView) -> Decision:
    """Two wipes of one folder, one of another, one look, side by side."""
    if "c-1" in view.calls:
        return complete(summary="done")
    return calls(
        call("desk.wipe", name="c-1", path="/scratch/a"),
        call("desk.look", name="c-2", path="/scratch"),
        call("desk.wipe", name="c-3", path="/scratch/b"),
        call("desk.wipe", name="c-4", path="/scratch/a"),
    )


@pytest.fixture(autouse=True)
def _clean() -> None:
    DONE.clear()
    MEANWHILE.clear()


def started(desk: Desk, name: str = "desk.wiper", **intent: Any) -> Task:
    return task_create(workspace=desk.workspace, owner=desk.owen, actor="person:owen", agent=name, intent=intent)


def request_of(task: Task, name: str = "wipe") -> ApprovalRequest:
    return ApprovalRequest.objects.select_related("workspace").get(task=task, name=name)


def test_case_11_a_parked_call_is_asked_once_however_often_its_worker_starts_anew(desk: Desk):
    task = started(desk, path="/a")
    for _ in range(5):
        task = task_run(task.pk, worker_here())
        assert (task.status, task.wait["kind"], task.lease_nonce) == (Status.WAITING, "approval", None)
        Task.objects.filter(pk=task.pk).update(wake_at=ClockTimestamp())  # all was killed, a sweeper finds it
    request = request_of(task)
    assert kinds(task.pk).count("approval.requested") == 1
    asked = Event.objects.get(stream=task.pk, kind="approval.requested")
    assert asked.data["decide_by"] == request.decide_by.isoformat()
    assert asked.data["reason"] == "It is 98 % full."
    decide(request, desk.rhea)
    task_run(task.pk, worker_here())
    assert DONE == ["wipe /a"]
    assert kinds(task.pk).count("approval.consumed") == 1


def test_case_12_with_the_broker_away_an_approval_is_answered_at_once_and_its_task_is_due(desk: Desk, monkeypatch):
    task = task_run(started(desk, path="/a").pk, worker_here())
    monkeypatch.setattr(current_app.conf, "broker_url", f"redis://127.0.0.1:{free(0)}/0")
    monkeypatch.setattr(wake, "broker", wake.Broker())  # without the connection that it has
    began = time.monotonic()
    assert decide(request_of(task), desk.rhea).new
    assert time.monotonic() - began < 5
    assert not decide(request_of(task), desk.rhea).new
    assert slice_here(task.pk, worker_here())  # what a sweep leads to
    assert DONE == ["wipe /a"]


def test_case_15_four_calls_side_by_side_answered_in_any_order(desk: Desk):
    task = task_run(started(desk, "desk.four").pk, worker_here())
    assert DONE == ["look /scratch"]
    decide(request_of(task, "c-4"), desk.rhea, Answer.DENIED, reason="once is enough")
    decide(request_of(task, "c-3"), desk.rhea)
    task = task_run(task.pk, worker_here())
    assert DONE == ["look /scratch", "wipe /scratch/b"]
    assert task.status == Status.WAITING
    decide(request_of(task, "c-1"), desk.silas)
    task_run(task.pk, worker_here())
    assert DONE == ["look /scratch", "wipe /scratch/b", "wipe /scratch/a"]
    states = dict(Call.objects.filter(task=task).order_by("ordinal").values_list("name", "state"))
    assert states == {"c-1": "answered", "c-2": "answered", "c-3": "answered", "c-4": "denied"}


def test_case_13_variant_rule_9_the_same_call_after_a_no_reaches_nobody(desk: Desk):
    task = task_run(started(desk, path="/a").pk, worker_here())
    decide(request_of(task), desk.rhea, Answer.DENIED, reason="keep it")
    task = task_run(task.pk, worker_here())
    again = Call.objects.get(task=task, name="again")
    assert again.state == "refused"
    assert ApprovalRequest.objects.filter(task=task).count() == 1
    said = Event.objects.get(stream=task.pk, seq=again.answer_seq).data["error"]
    assert str(request_of(task).pk) in str(said)
    assert "denied by rhea" in str(said)
    assert DONE == []


def test_an_approval_that_lapsed_ends_row_event_and_call_alike_and_the_agent_decides_afresh(desk: Desk):
    task = task_run(started(desk, path="/a").pk, worker_here())
    request = request_of(task)
    decide(request, desk.rhea)
    ApprovalRequest.objects.filter(pk=request.pk).update(run_by=ClockTimestamp() - timedelta(seconds=1))
    task = task_run(task.pk, worker_here())
    request.refresh_from_db()
    call_row = Call.objects.get(task=task, name="wipe")
    assert (request.status, call_row.state) == ("lapsed", "lapsed")
    assert Event.objects.get(stream=task.pk, kind="approval.lapsed").seq == call_row.settled_seq == call_row.answer_seq
    assert request_of(task, "again").status == "requested"
    assert DONE == []


def test_rule_2_a_resend_past_must_run_by_is_never_sent_and_held_for_a_person_where_nobody_can_look(desk: Desk):
    task = task_run(started(desk, path="/unknown").pk, worker_here())
    request = request_of(task)
    decide(request, desk.rhea)
    slice_here(task.pk, worker_here())
    sent = len(DONE)
    assert sent >= 1
    ApprovalRequest.objects.filter(pk=request.pk).update(run_by=ClockTimestamp() - timedelta(seconds=1))
    end = time.monotonic() + 20
    while Call.objects.get(task=task, name="wipe").state != "in_doubt":
        assert time.monotonic() < end, kinds(task.pk)
        task_run(task.pk, worker_here())
    assert len(DONE) == sent
    assert kinds(task.pk).count("approval.consumed") == 1


def test_case_16_a_cancelled_task_does_not_run_what_was_approved(desk: Desk):
    task = task_run(started(desk, path="/a").pk, worker_here())
    decide(request_of(task), desk.rhea)
    task_cancel(workspace=desk.workspace, task=task.pk, actor="person:silas", reason="not needed")
    assert not slice_here(task.pk, worker_here())
    assert DONE == []


def test_case_16_d_a_call_that_is_attempted_when_the_cancel_comes_ends_by_itself_and_nothing_else_starts(desk: Desk):
    task = task_run(started(desk, path="/a").pk, worker_here())
    decide(request_of(task), desk.rhea)

    def cancelled() -> None:
        task_cancel(workspace=desk.workspace, task=task.pk, actor="person:silas", reason="not needed")
        assert Task.objects.get(pk=task.pk).status == Status.CANCELLING
        connection.close()  # of this thread

    MEANWHILE.append(cancelled)
    end = time.monotonic() + 20
    while Task.objects.get(pk=task.pk).status != Status.CANCELLED:
        assert time.monotonic() < end, kinds(task.pk)
        task_run(task.pk, worker_here())
    wipe = Call.objects.get(task=task, name="wipe")
    outcome = Event.objects.get(stream=task.pk, kind="call.outcome")
    assert (DONE, wipe.state in {"verified", "answered"}) == (["wipe /a"], True), wipe.state
    assert (outcome.data["outcome"], outcome.data["result"]) == ("ok", "wiped")
    assert request_of(task).status == "consumed"
    told = kinds(task.pk)
    after = told[told.index("task.cancel_requested") :]
    assert not {"step.decided", "call.intended", "call.attempted"} & set(after), after
