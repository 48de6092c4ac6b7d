"""The client against a real web process: the function runs only when the gate lets it, once, with what was approved."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from handrail_gate import (
    AsyncGate,
    Done,
    Gate,
    GateDenied,
    GateDown,
    GateExpired,
    GateMismatch,
    GateRefused,
    GateTimeout,
    GateUsed,
    NoEffect,
    Wanted,
    current,
)

from approvals_app.models import ApprovalRequest
from approvals_app.services.edit import approval_edit
from approvals_app.status import Answer, Via
from core.clock import database_now
from tasks_app.finders import leases_ran_out
from tasks_app.models import Call, Event, Task
from tasks_app.testing import task_run, worker_here
from tests.desk import Desk, as_person, decide, kinds
from tests.processes import ROOT, wait_for
from tests.serving import WebServer

PENDING = ApprovalRequest.objects.filter(status="requested")


def asked() -> ApprovalRequest:
    return wait_for(lambda: PENDING.select_related("task", "workspace").order_by("-pk").first(), what="a request")


def in_thread(work: Callable[[], Any]) -> "Future[Any]":
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future


def note_of(gate: Gate, ran: list[Any], **terms: Any) -> Callable[..., Any]:
    @gate.approved(tool=terms.pop("tool", "gate.note"), **terms)
    def note(text: str, room: str = "hall") -> Done:
        ran.append((text, room, current().key))
        return Done(result={"noted": text}, reference="n-1")

    return note


def test_it_runs_once_somebody_has_approved_and_the_record_holds_its_report(gate: Gate, desk: Desk):
    ran: list[Any] = []
    note = note_of(gate, ran, reason="The guest asked for it.")
    going = in_thread(lambda: note("hello"))
    request = asked()
    assert ran == []
    decide(request, desk.rhea)
    assert going.result(20) == {"noted": "hello"}
    call = Call.objects.get(task=request.task)
    assert ran == [("hello", "hall", call.key)]
    assert (call.state, call.reference) == ("answered", "n-1")
    assert task_run(request.task_id, worker_here()).status == "completed"


def test_the_function_gets_the_arguments_that_were_approved_not_those_it_was_called_with(gate: Gate, desk: Desk):
    ran: list[Any] = []
    going = in_thread(lambda: note_of(gate, ran)("hello"))
    first = asked()
    new = approval_edit(
        approval=first.pk,
        principal=as_person(desk.silas, desk.workspace),
        arguments={"text": "good evening"},
        reason="politely",
        digest=first.digest,
        via=Via.API,
    )
    decide(new, desk.rhea)
    going.result(20)
    assert [one[0] for one in ran] == ["good evening"]


def test_denied_expired_and_undecided_never_run_and_each_says_so(gate: Gate, desk: Desk):
    ran: list[Any] = []
    going = in_thread(lambda: note_of(gate, ran)("no"))
    decide(asked(), desk.rhea, Answer.DENIED, reason="not at night")
    with pytest.raises(GateDenied, match=r"denied by rhea.*not at night"):
        going.result(20)
    going = in_thread(lambda: note_of(gate, ran)("late"))
    request = asked()
    ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=database_now())
    from approvals_app.services.expire import approvals_expire

    approvals_expire()
    with pytest.raises(GateExpired):
        going.result(20)
    with pytest.raises(GateTimeout, match="Decide it at http"):
        note_of(gate, ran, wait=0.3)("slow")
    assert ran == []


def test_the_same_key_finds_its_request_again_and_what_was_used_does_not_run_again(gate: Gate, desk: Desk):
    ran: list[Any] = []
    note = note_of(gate, ran, key=lambda arguments: f"note {arguments['text']}", wait=0.2)
    for _ in range(2):
        with pytest.raises(GateTimeout):
            note("hello")
    assert PENDING.count() == 1
    decide(asked(), desk.rhea)
    note("hello")
    with pytest.raises(GateUsed):
        note("hello")
    assert len(ran) == 1


def test_no_effect_is_reported_as_failed_and_any_other_error_as_unknown(gate: Gate, desk: Desk):
    def run(error: Exception) -> Call:
        @gate.approved(tool="gate.note")
        def note(text: str, room: str) -> None:
            raise error

        going = in_thread(lambda: note("hello", "hall"))
        request = asked()
        decide(request, desk.rhea)
        with pytest.raises(type(error)):
            going.result(20)
        return Call.objects.get(task=request.task)

    assert run(NoEffect("no such room")).state == "refused"
    broken = run(ConnectionError("in between"))
    assert broken.state == "unknown"
    assert task_run(broken.task_id, worker_here()).status == "in_doubt"


def test_what_does_not_fit_the_function_is_not_run_and_not_used(gate: Gate, desk: Desk):
    ran: list[Any] = []

    @gate.approved(tool="gate.note")
    def note(text: str) -> None:  # does not know the room that the tool adds
        ran.append(text)

    going = in_thread(lambda: note("hello"))
    request = asked()
    decide(request, desk.rhea)
    with pytest.raises(GateMismatch):
        going.result(20)
    request.refresh_from_db()
    assert (ran, request.status) == ([], "approved")


def test_refused_arguments_and_a_wrong_token_are_plain_errors(gate: Gate, server: WebServer):
    with pytest.raises(GateRefused, match="arguments") as refused:
        gate.request(Wanted(tool="gate.note", arguments={"text": 5}, request_key="k"))
    assert (refused.value.status, refused.value.code) == (422, "invalid-input")
    with Gate(server.address, "hr_wrong") as stranger, pytest.raises(GateRefused) as refused:
        stranger.request(Wanted(tool="gate.note", arguments={"text": "x"}, request_key="k"))
    assert refused.value.status == 401


@pytest.mark.timeout(200)
def test_the_gate_killed_between_request_and_use_means_no_effect(gate: Gate, desk: Desk, server: WebServer):
    ran: list[Any] = []
    going = in_thread(lambda: note_of(gate, ran, wait=4.0)("hello"))
    request = asked()
    server.stop(signal.SIGKILL)
    decide(request, desk.rhea)  # approved, and nobody hears of it
    with pytest.raises(GateDown):
        going.result(60)
    assert ran == []
    assert "call.attempted" not in kinds(request.task_id)
    request.refresh_from_db()
    assert request.status == "approved"


def test_the_gate_killed_while_the_call_is_ready_means_no_effect(gate: Gate, desk: Desk, server: WebServer):
    call = gate.request(Wanted(tool="gate.note", arguments={"text": "x"}, request_key="k-1"))
    decide(asked(), desk.rhea)
    call = gate.wait(call, seconds=10)
    server.stop(signal.SIGKILL)
    with pytest.raises(GateDown):
        gate.use(call)
    assert "call.attempted" not in kinds(Task.objects.get(pk=call.task).pk)
    server.start()
    assert gate.use(call).arguments == {"text": "x", "room": "hall"}


def test_a_report_that_cannot_be_delivered_is_tried_until_the_deadline_and_then_left(
    gate: Gate, desk: Desk, server: WebServer
):
    call = gate.request(Wanted(tool="gate.quick", arguments={"text": "x"}, request_key="k-1"))
    decide(asked(), desk.rhea)
    execution = gate.use(gate.wait(call, seconds=10))
    server.stop(signal.SIGKILL)
    assert gate.report(execution, "succeeded") is False
    assert execution.seconds_left < 2.0
    task = Task.objects.get(pk=call.task).pk
    wait_for(lambda: leases_ran_out() or Task.objects.get(pk=task).lease_nonce is None, what="the lease to run out")
    row = wait_for(lambda: (found := task_run(task, worker_here())).status == "in_doubt" and found, what="the doubt")
    assert row.calls.get().state == "in_doubt"
    server.start()
    assert gate.report(execution, "succeeded") is True  # a late receipt closes the doubt
    assert Event.objects.filter(stream=task, kind="call.late_receipt").count() == 1
    assert task_run(task, worker_here()).status == "completed"


@pytest.mark.timeout(300)
def test_k_16_client_processes_use_one_approval_and_one_of_them_acts(
    server: WebServer, desk: Desk, token: str, tmp_path: Path
):
    ledger = tmp_path / "effects"
    command = [sys.executable, "-m", "tests.gate_rival", server.address, token, "one", str(ledger)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "clients" / "python")}
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True))
            for _ in range(16)
        ]
        for rival in rivals:
            assert rival.stdout is not None
            assert rival.stdout.readline() == "asking\n"
        request = asked()
        decide(request, desk.rhea)
        said = [rival.communicate(timeout=120)[0].strip() for rival in rivals]
    assert sorted(said) == ["GateUsed"] * 15 + ["noted"]
    assert len(ledger.read_text().splitlines()) == 1
    told = kinds(request.task_id)
    assert (told.count("call.attempted"), told.count("approval.consumed"), PENDING.count()) == (1, 1, 0)


def test_the_same_with_asyncio_and_a_cancelled_function_is_unknown(server: WebServer, desk: Desk, token: str):
    ran: list[str] = []

    async def main(hang: bool) -> Any:
        async with AsyncGate(server.address, token) as gate:

            @gate.approved(tool="gate.note")
            async def note(text: str, room: str) -> str:
                ran.append(text)
                if hang:
                    await asyncio.sleep(60)
                return "noted"

            async with gate.task("With asyncio") as opened:
                assert (opened.title, opened.status) == ("With asyncio", "waiting")
            work = asyncio.create_task(note("hello", "hall"))
            while hang and not ran:
                await asyncio.sleep(0.01)
            if hang:
                work.cancel()
            return await work

    going = in_thread(lambda: asyncio.run(main(False)))
    decide(asked(), desk.rhea)
    assert going.result(20) == "noted"
    ran.clear()
    going = in_thread(lambda: asyncio.run(main(True)))
    request = asked()
    decide(request, desk.rhea)
    with pytest.raises(asyncio.CancelledError):
        going.result(20)
    assert Call.objects.get(task=request.task).state == "unknown"
