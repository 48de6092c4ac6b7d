"""Each commit of a run, lost on its way by a proxy: kept or dropped, the worker goes on and nothing happens twice."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from chaos_app.proxy import Fate, Plan, Proxy, proxy_start
from chaos_app.world.client import WorldClient
from core import boundaries
from core.boundaries import Crossing
from tasks_app import tasks
from tasks_app.executor import slice_run
from tasks_app.leases import Lease, WorkerIdentity, lease_claim
from tasks_app.models import Call, Event, Task
from tasks_app.runtime import attempting, ready
from tasks_app.status import Status
from tasks_app.testing import StillKeeper
from tests import desk
from tests.integration.runtime.conftest import SEND, Rig, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.processes import wait_for

COMMITS = {"E01", "E05", "D02", "C01", "C02", "F01", "E09", "W05", "W03"}


@pytest.fixture
def proxy(rig: Callable[[], Rig]) -> Iterator[Proxy]:
    """A proxy through which this test's own connection goes while ``through`` is open."""
    with (
        tempfile.TemporaryDirectory(prefix="hr-proxy-") as folder,
        proxy_start(server=Path(connection.settings_dict["HOST"]), folder=Path(folder)) as running,
    ):
        yield running


@contextmanager
def through(proxy: Proxy) -> Iterator[None]:
    before = connection.settings_dict["HOST"]
    connection.close()
    connection.settings_dict["HOST"] = str(proxy.folder)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["HOST"] = before


class Losing:
    """Runs slices; the nth commit meets a fate."""

    def __init__(
        self, rig: Rig, proxy: Proxy, at: int | str = 0, fate: Fate = Fate.KEPT, *, hold: bool = False
    ) -> None:
        self.rig, self.proxy, self.at, self.fate, self.hold = rig, proxy, at, fate, hold
        self.seen: list[str] = []
        self.plan: Plan | None = None

    def handle(self, crossing: Crossing) -> None:
        if crossing.boundary not in COMMITS or crossing.position != "before":
            return
        self.seen.append(crossing.boundary)
        if self.plan is None and self.at in {len(self.seen), crossing.boundary}:
            # A transaction of several statements is lost with its COMMIT, a single one with itself.
            last = b"COMMIT" if self.in_transaction(crossing) else b""
            self.plan = self.proxy.arm(Plan(self.fate, containing=last, hold=self.hold))

    def in_transaction(self, crossing: Crossing) -> bool:
        """Whether this commit asks for an approval, or uses one (T1)."""
        task = Task.objects.get(pk=crossing.task)
        if crossing.call != "act" or task.intent["kind"] != "asked":
            return False
        row = Call.objects.filter(task=task, name="act").first()
        return crossing.boundary == "D02" if row is None else row.state == "approved"

    def release_late(self, seconds: float) -> None:
        """Let the client that is held be cut, so many seconds after its commit was carried out."""
        plan = wait_for(lambda: self.plan, what="the plan")
        assert plan.fired.wait(20)
        time.sleep(seconds)
        plan.release.set()

    def run(self, task: Task) -> Task:
        def life(row: Task) -> bool:
            for request in ApprovalRequest.objects.filter(task=row, status="requested"):
                desk.decide(request, self.rig.people.silas, Answer.APPROVED, reason="fine")
            return row.status in ENDS

        self.rig.slice = self.slice  # type: ignore[method-assign]
        return self.rig.run(task, until=life, seconds=40)

    def slice(self, task: Task) -> None:
        lease = lease_claim(task=task.pk, worker=self.rig.worker)
        if lease is None:
            return
        boundaries.install(self.handle)
        try:
            with through(self.proxy):
                slice_run(lease=lease, keeper=StillKeeper(), drain=lambda: False)
        finally:
            boundaries.install(None)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("fate", list(Fate))
@pytest.mark.parametrize("kind", ["keyed", "opaque", "precondition", "asked"])
def test_a_commit_whose_answer_is_never_seen_is_looked_up_and_never_repeated_blindly(
    kind: str, fate: Fate, rig: Callable[[], Rig], proxy: Proxy, client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E01, E05, C01, D02, A06, S4: the record is the same as without the fault, and so is the outside."""
    for module in (attempting, ready):  # a new connection may take its time on a busy machine
        monkeypatch.setattr(module, "SEND_SECONDS", 10.0)
    clean = Losing(rig(), proxy)
    undisturbed = clean.run(clean.rig.task(**intent_of(kind, 0)))
    assert undisturbed.status == Status.COMPLETED
    wrong = []
    for nth in count(1):
        one = Losing(rig(), proxy, nth, fate)
        task = one.run(one.rig.task(**intent_of(kind, nth)))
        if one.plan is None:  # so many commits has no run
            assert nth > 6
            break
        assert one.plan.fired.is_set(), (nth, one.seen)
        if task.status != Status.COMPLETED or effects_of(client, task) != 1 or kinds(task) != kinds(undisturbed):
            wrong.append((one.seen[nth - 1], nth, task.status, effects_of(client, task), kinds(task)))
        attempts = Event.objects.filter(stream=task.pk, kind="call.attempted").values_list(
            "data__name", "data__attempt"
        )
        assert len(set(attempts)) == len(attempts)
    assert not wrong, (wrong, kinds(undisturbed))
    assert {line.what for line in proxy.log} == {fate}


class Claiming(StillKeeper):
    """What a worker's process knows of its keeper, where it claims by itself."""

    def __init__(self, worker: WorkerIdentity) -> None:
        super().__init__()
        self.worker, self.expected = worker, set[UUID]()

    def identity(self) -> WorkerIdentity:
        return self.worker

    def expect(self, task: UUID, nonce: UUID) -> None:
        self.expected.add(nonce)

    def settle(self, nonce: UUID) -> None:
        self.expected.discard(nonce)

    def watch(self, lease: Lease, *, slice_deadline: float) -> None:
        self.expected.discard(lease.token.nonce)

    def draining(self) -> bool:
        return False


@pytest.mark.parametrize("fate", list(Fate))
def test_a_claim_whose_commit_is_never_seen_is_given_back_and_taken_again(
    fate: Fate, rig: Callable[[], Rig], proxy: Proxy, client: WorldClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L02: kept or dropped, nobody waits for the lease to run out, and it counts as nobody's fault."""
    one = rig()
    task = one.task(**intent_of("keyed", 0))
    keeper = Claiming(one.worker)
    monkeypatch.setattr(tasks, "client_here", lambda: keeper)
    plans: list[Plan] = []

    def handle(crossing: Crossing) -> None:
        if (crossing.boundary, crossing.position) == ("L02", "before") and not plans:
            plans.append(proxy.arm(Plan(fate, containing=b"COMMIT")))

    def life() -> bool:
        tasks.slice_task(str(task.pk))
        task.refresh_from_db()
        return task.status in ENDS

    boundaries.install(handle)
    try:
        with through(proxy):
            wait_for(life, seconds=30)
    finally:
        boundaries.install(None)
    assert plans[0].fired.is_set()
    assert (task.status, effects_of(client, task), keeper.expected) == (Status.COMPLETED, 1, set())
    lost = Event.objects.filter(stream=task.pk, kind="slice.lost")
    assert [(e.data["seen"], e.data["counted"]) for e in lost] == [("database away", False)] * (fate == Fate.KEPT)
    epochs = Event.objects.filter(stream=task.pk, kind="slice.claimed").values_list("epoch", flat=True)
    assert len(set(epochs)) == len(epochs)


def test_a_worker_that_has_not_seen_its_commit_within_send_by_does_not_send(
    rig: Callable[[], Rig], proxy: Proxy, client: WorldClient
) -> None:
    """E01, L06: the attempt is there, its answer held for longer than send_by; provably never sent is a refusal."""
    one = Losing(rig(), proxy, "E01", hold=True)
    task = one.rig.task(**intent_of("opaque", 0))
    helper = threading.Thread(target=one.release_late, args=[SEND + 0.2])
    helper.start()
    one.run(task)
    helper.join()
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 0)
    assert Event.objects.get(stream=task.pk, kind="call.outcome", data__name="act").data["sent"] is False
