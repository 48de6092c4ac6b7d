"""Field cases 17 to 20 with real workers, keepers and sweepers."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen

import pytest

from chaos_app.world.client import WorldClient
from tasks_app.models import Event, LateWrite, Status, Task
from tasks_app.status import CallState
from tests.crew import Crew, call_state, event, kinds, owner, slice_pid, status, wait_kind, wait_status
from tests.integration.runtime.conftest import fresh
from tests.processes import descendants, kill, wait_for

pytestmark = pytest.mark.timeout(400)
SLOW_PAY = "c.pay_slow"


def pay(crew: Crew, tool: str = SLOW_PAY) -> Task:
    return crew.task(tool=tool, arguments={"payee": fresh(), "cents": 125})


def effects(client: WorldClient, task: Task, name: str = "act") -> int:
    return len(client.effects(call=f"{task.pk}/{name}"))


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """SIGSTOP processes; SIGCONT them at the end."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("same_name", [True, False], ids=["also named w", "named x"])
def test_case_17_a_stalled_worker_that_comes_back_overwrites_nobody(
    same_name: bool, crew: Crew, client: WorldClient
) -> None:
    """Stopped with its keeper while its request is held outside; the answer that it then gets closes the doubt."""
    crew.sweeper()
    both = [crew.worker("w"), crew.worker("w" if same_name else "x")]
    task = pay(crew)
    held = client.arm("payments", "hold", match={"call": f"{task.pk}/act"}, at="applied", seconds=60)
    client.wait_reached(held.id, seconds=60)
    old = event(task.pk, "slice.claimed")
    first, second = sorted(both, key=lambda worker: slice_pid(task) not in descendants(worker.pid))
    with stopped(first.pid, *descendants(first.pid)):
        wait_status(task, Status.IN_DOUBT, seconds=20)
        newer = event(task.pk, "slice.claimed")
        assert (newer.epoch, newer.data["nonce"] == old.data["nonce"]) == ((old.epoch or 0) + 1, False)
        assert event(task.pk, "slice.lost").data["seen"] == "lease ran out"
        client.release(held.id)
    receipt = wait_kind(task, "call.late_receipt")
    assert (receipt.data["held_epoch"], receipt.data["closes_doubt"], receipt.data["outcome"]) == (
        old.epoch,
        True,
        "ok",
    )
    wait_status(task, Status.COMPLETED)
    assert (effects(client, task), call_state(task)) == (1, CallState.ANSWERED)
    assert kinds(task.pk).count("call.attempted") == 1
    later = Event.objects.filter(stream=task.pk, seq__gt=newer.seq).exclude(kind="call.late_receipt")
    assert old.epoch not in set(later.values_list("epoch", flat=True))
    assert LateWrite.objects.filter(stream=task.pk, presented_epoch=old.epoch, kind="call.outcome").exists()
    assert second.poll() is None


def zombie_over(task: Task, worker: Popen[bytes]) -> bool:
    pid = int(event(task.pk, "slice.claimed", 0).data["pid"])
    late = LateWrite.objects.filter(stream=task.pk, kind="call.outcome").first()
    assert late is None or late.data["sent"] is False
    return late is not None or pid not in descendants(worker.pid)


def test_case_17_a_stalled_worker_does_not_send_past_its_time(crew: Crew, client: WorldClient) -> None:
    """Stopped between the attempt's commit and the send, longer than the lease (readable: looked up, then sent)."""
    crew.sweeper()
    both = crew.workers("w", "x", more=("-I", "tests.stalls"))
    task = crew.task(tool="c.ticket_readable", arguments={"title": fresh()})
    wait_for(lambda: (crew.folder / "stalled").exists(), seconds=60, what="the stall")
    first = owner(task, both)
    with stopped(first.pid, *descendants(first.pid)):
        (crew.folder / "go").touch()
        wait_status(task, Status.COMPLETED, seconds=25)
    # It comes back to a deadline that has passed: its keeper kills it, unless it has found out by itself first.
    wait_for(lambda: zombie_over(task, first), seconds=60, what="the zombie's end")
    assert (effects(client, task), len([a for a in client.ledger(call=f"{task.pk}/act").arrivals if a.acts])) == (1, 1)


def test_case_18_a_busy_interpreter_is_not_declared_dead(crew: Crew) -> None:
    """(a) C code that lets no thread run, for longer than a lease: nobody else starts it."""
    crew.sweeper()
    crew.workers("w", "x")
    task = crew.task(tool="c.busy", arguments={"sku": "6"})
    wait_status(task, Status.COMPLETED)
    assert kinds(task.pk).count("slice.claimed") == 1


@pytest.mark.parametrize(
    ("tool", "ends"), [("c.pay_hangs", Status.IN_DOUBT), ("c.ticket_hangs_once", Status.COMPLETED)]
)
def test_case_18_a_tool_that_never_returns_ends_at_its_own_deadline(
    tool: str, ends: str, crew: Crew, client: WorldClient
) -> None:
    """(b), L04: the keeper kills at deadline + 1 s; opaque is in doubt, keyed is sent again under its key."""
    crew.sweeper()
    crew.worker("w")
    what = {"title": fresh()} if "ticket" in tool else {"payee": fresh(), "cents": 1}
    task = crew.task(tool=tool, arguments=what)
    wait_status(task, ends)
    lost = event(task.pk, "slice.lost", 0)
    attempted = event(task.pk, "call.attempted", 0)
    # A keeper that was starved itself is late: then the lease, no longer renewed, has run out first.
    assert lost.data["seen"] in {"killed at deadline", "lease ran out"}
    late = (lost.at - attempted.at).total_seconds()
    assert late > 5.5, "2 s to send, 4 s for the tool; no sooner"
    assert effects(client, task) == 1


def test_case_18_a_child_that_the_hard_limit_kills_is_replaced_at_once(crew: Crew) -> None:
    """(c): ``slice.lost`` says how the process ended."""
    crew.worker("w", concurrency=2, more=("--time-limit", "3"))
    task = crew.task(tool="c.busy", arguments={"sku": "30"})
    lost = wait_kind(task, "slice.lost")
    again = wait_kind(task, "slice.claimed", 2)
    assert "hard time limit" in lost.data["seen"]
    # Nobody sweeps here: it is claimed because it was lost, or never.
    assert (again.at - lost.at).total_seconds() < 10


def test_case_19_a_task_that_kills_its_worker_is_quarantined_and_the_others_go_on(crew: Crew) -> None:
    crew.sweeper()
    deadly = crew.task("deadly")
    healthy = [crew.task("chain", title=fresh(), count=2) for _ in range(2)]
    crew.worker("w")
    wait_status(deadly, Status.QUARANTINED, seconds=90)
    for task in healthy:
        wait_status(task, Status.COMPLETED)
    losses = Event.objects.filter(stream=deadly.pk, kind="slice.lost", data__place="c-2")
    assert [loss.data["losses"] for loss in losses.order_by("seq")] == [1, 2, 3]
    quarantined = event(deadly.pk, "task.quarantined")
    assert quarantined.data == {"place": "c-2", "losses": 3}
    assert event(deadly.pk, "slice.lost").data["exit_status"] is not None


def test_case_20_what_only_waits_is_left_alone_and_only_the_dead_are_taken(crew: Crew, client: WorldClient) -> None:
    crew.sweeper()
    crew.worker("w", concurrency=2)
    a = crew.task(agent="case.single", tool=SLOW_PAY, arguments={"payee": fresh(), "cents": 1})
    held = client.arm("payments", "hold", match={"call": f"{a.pk}/act"}, at="before", seconds=60)
    client.wait_reached(held.id, seconds=30)
    b = crew.task(agent="case.single", tool="t.ticket", arguments={"title": fresh()})
    c = crew.task(tool="t.pay_asked", arguments={"payee": fresh(), "cents": 1})
    d = crew.task("until_tomorrow")
    wait_for(lambda: Task.objects.get(pk=b.pk).wait, what="b to wait for the limit")
    wait_status(c, Status.WAITING)
    wait_status(d, Status.WAITING)
    until = time.monotonic() + 6  # a lease and a half, and a sweeper all the while
    while time.monotonic() < until:
        assert "slice.lost" not in [*kinds(a.pk), *kinds(b.pk), *kinds(c.pk), *kinds(d.pk)]
        time.sleep(0.2)
    assert (Task.objects.get(pk=b.pk).wait["kind"], Task.objects.get(pk=c.pk).wait["kind"]) == ("limit", "approval")
    kill(slice_pid(a))
    client.release(held.id, then="cut")
    wait_kind(a, "slice.lost")
    wait_status(a, Status.IN_DOUBT)
    wait_status(b, Status.COMPLETED)
    assert [kinds(task.pk).count("slice.lost") for task in (a, b, c, d)] == [1, 0, 0, 0]
    assert [status(task) for task in (c, d)] == [Status.WAITING, Status.WAITING]
