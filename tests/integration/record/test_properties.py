"""Workers that die or are fenced off anywhere, operators at any moment, an outside that misbehaves: S1 to S12 hold.

``HANDRAIL_PROPERTY_EXAMPLES`` sets how many runs are tried (each takes a second or two).
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, example, given, settings, target
from hypothesis import strategies as st

from approvals_app.models import ApprovalRequest
from approvals_app.services.decide import approval_decide
from approvals_app.status import Answer, Via
from core import boundaries
from core.boundaries import Crossing
from core.clock import ClockTimestamp
from core.errors import HandrailError
from tasks_app.executor import slice_run
from tasks_app.leases import Lease, lease_claim
from tasks_app.losses import Loss, lease_lose
from tasks_app.models import Call, CallState, Status, Task
from tasks_app.record.invariants import Case, violations
from tasks_app.record.rebuild import facts, task_differences
from tasks_app.record.verify import stream_verify
from tasks_app.runtime import attempting, ready
from tasks_app.services.cancel import task_cancel
from tasks_app.services.create import task_create
from tasks_app.services.settle import TooEarly, call_settle
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import task_pause, task_resume
from tasks_app.status import TERMINAL
from tasks_app.testing import StillKeeper, worker_here
from tests.desk import as_person
from tests.integration.record.outside import Death, Outside, world_begin
from tests.people import People, people_create

EXAMPLES = int(os.environ.get("HANDRAIL_PROPERTY_EXAMPLES", "10"))
LONGEST = 40.0  # seconds until a run must have ended

STEPS = st.lists(
    st.lists(st.sampled_from(["keyed", "readable", "opaque", "gated", "look"]), min_size=1, max_size=3)
    | st.sampled_from([["signal"], ["state"]]),
    min_size=1,
    max_size=4,
)
ACTS = st.lists(
    st.sampled_from(["ok", "ok", "refuse", "lost", "late", "absent", "die before", "die after", "die late"]), max_size=6
)
LOOKS = st.lists(st.sampled_from(["ok", "ok", "cannot"]), max_size=5)
# (how many crossings later, what happens there)
EVENTS = st.lists(
    st.tuples(
        st.integers(1, 25),
        st.sampled_from(["die", "die", "fenced", "pause", "resume", "cancel", "signal", "decide", "settle"]),
    ),
    max_size=6,
)


@dataclass
class Run:
    """One task under a plan of faults and of what people do, each at a numbered crossing."""

    people: People
    world: Outside
    task: Task
    plan: list[tuple[int, str]]
    workers: list[Any]
    left: int = 0
    denied: bool = False
    holding: list[Lease] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def cross(self, crossing: Crossing) -> None:
        """Do what is planned for this passage; inside a transaction, only a death fits."""
        if not self.plan:
            return
        self.left += 1
        after, what = self.plan[0]
        if self.left < after or (connection.in_atomic_block and what != "die"):
            return
        self.plan.pop(0)
        self.left = 0
        self.told.append(f"{what} at {crossing.boundary} {crossing.position}")
        if what == "die":
            raise Death
        boundaries.install(None)
        try:
            self.fence_off() if what == "fenced" else self.person(what)
        finally:
            boundaries.install(self.cross)

    def fence_off(self) -> None:
        """The running worker loses its lease without knowing; another one works; then the first goes on."""
        if self.holding:
            self.bury(self.holding[-1])
            boundaries.install(self.cross)
            self.slice()

    def person(self, what: str) -> None:
        """What operators and approvers may do at any moment; a refusal is an answer too."""
        here = {"workspace": self.people.workspace, "task": self.task.pk, "actor": "person:silas"}
        with suppress(HandrailError):
            match what:
                case "pause":
                    task_pause(**here, reason="lunch")
                case "resume":
                    task_resume(**here)
                case "cancel":
                    task_cancel(**here, reason="not needed")
                case "signal":
                    signal_send(**here, name="go", payload={"n": 1})
                case "decide":
                    self.decide()
                case "settle":
                    self.settle()

    def decide(self) -> None:
        """Approve what is asked; the second question of a run is denied."""
        for request in ApprovalRequest.objects.filter(task=self.task, status="requested").order_by("pk"):
            answer = Answer.DENIED if self.denied else Answer.APPROVED
            self.denied = not self.denied
            approval_decide(
                approval=request.pk,
                principal=as_person(self.people.silas, self.people.workspace),
                decision=answer,
                reason="read",
                digest=request.digest,
                via=Via.API,
            )

    def settle(self) -> None:
        """Look outside as a person would, and say what is there."""
        for call in Call.objects.filter(task=self.task, state=CallState.IN_DOUBT):
            self.world.settle()
            happened = bool(self.world.of(call.key))
            with suppress(TooEarly):
                call_settle(
                    workspace=self.people.workspace,
                    task=self.task.pk,
                    name=call.name,
                    actor="person:silas",
                    answer="happened" if happened else "not_happened",
                    evidence="looked in the ledger",
                )

    def slice(self) -> bool:
        """Claim and run one slice; a death is seen and declared at once."""
        worker = self.workers[len(self.told) % len(self.workers)]
        boundaries.install(self.cross)
        depth = len(self.holding)
        try:
            lease = lease_claim(task=self.task.pk, worker=worker)
            if lease is None:
                return False
            self.holding.append(lease)
            slice_run(lease=lease, keeper=StillKeeper(), drain=lambda: False)
            return True
        except Death:
            boundaries.install(None)
            self.bury_all(depth)
            return True
        finally:
            boundaries.install(None)
            del self.holding[depth:]

    def bury_all(self, depth: int) -> None:
        for lease in self.holding[depth:]:
            self.bury(lease)
        row = Task.objects.get(pk=self.task.pk)
        if row.lease_nonce is not None and not self.holding[:depth]:  # died between claim and the first look
            lease_lose(task=row.pk, nonce=row.lease_nonce, loss=Loss(seen="process gone"), actor="keeper:test")

    def bury(self, lease: Lease) -> None:
        lease_lose(task=lease.task, nonce=lease.token.nonce, loss=Loss(seen="process gone"), actor="keeper:test")

    def to_the_end(self) -> Task:
        """Run until the task has ended; what waits for a person gets one, what waits for a time waits it out."""
        until = time.monotonic() + LONGEST
        while True:
            row = Task.objects.get(pk=self.task.pk)
            if row.status in TERMINAL:
                return row
            assert time.monotonic() < until, f"stuck: {row.status} {row.wait} {row.wake_at} {self.told}"
            if not self.slice():
                self.help(Task.objects.get(pk=self.task.pk))

    def help(self, row: Task) -> None:
        """Nothing is due: back-off is cut short, and a person looks at what waits for one."""
        if row.status == Status.QUEUED and row.lease_nonce is None:
            Task.objects.filter(pk=row.pk, lease_nonce=None).update(wake_at=ClockTimestamp())
        if row.status in {Status.PAUSED, Status.QUARANTINED, Status.UNVERIFIED}:
            self.person("resume")
        if (row.open_wait or {}).get("kind") == "signal":
            self.person("signal")
        self.person("decide")
        self.person("settle")
        time.sleep(0.02)  # between two looks at a database clock that waits for nobody


@pytest.fixture
def crew(transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[tuple[People, list[Any]]]:
    settings.LEASE_SECONDS = 60
    for module in (attempting, ready):
        monkeypatch.setattr(module, "SEND_SECONDS", 0.15)
    yield people_create(), [worker_here("one"), worker_here("two"), worker_here("three")]
    boundaries.install(None)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=set(Phase) - {Phase.shrink},
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS, acts=ACTS, looks=LOOKS, plan=EVENTS)
@example(steps=[["keyed"], ["readable"], ["keyed"]], acts=[], looks=[], plan=[(8, "fenced"), (8, "die")])
@example(steps=[["keyed", "readable"], ["state"]], acts=["lost", "late"], looks=[], plan=[(9, "fenced"), (9, "die")])
@example(steps=[["gated"], ["opaque"]], acts=[], looks=[], plan=[(5, "fenced")])
@example(steps=[["gated"], ["opaque"]], acts=["die after", "die late"], looks=["cannot"], plan=[(30, "pause")])
@example(steps=[["state"], ["signal"]], acts=[], looks=[], plan=[(15, "signal"), (4, "fenced")])
@pytest.mark.timeout(max(120, EXAMPLES * 15))
def test_whatever_dies_and_whoever_acts_the_record_and_the_outside_agree(
    crew: tuple[People, list[Any]], steps: list[list[str]], acts: list[str], looks: list[str], plan: list[Any]
) -> None:
    people, workers = crew
    world = world_begin(acts, looks)
    task = task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="prop.run",
        intent={"steps": steps},
    )
    run = Run(people=people, world=world, task=task, plan=list(plan), workers=workers)
    row = run.to_the_end()
    _outlive_late_effects(world)
    record = list(facts(task.pk))
    case = Case(facts=record, ledger=world.ledger, clocks=timedelta(seconds=1))
    assert not violations(case), (violations(case), run.told, [f"{f.seq} {f.kind} {f.epoch}" for f in record])
    assert not stream_verify(task.pk).problems
    assert not (wrong := task_differences(task.pk)), (wrong, run.told)
    assert row.lease_nonce is None
    target(float(len(run.told)))


def _outlive_late_effects(world: Outside) -> None:
    """Wait until nothing can arrive any more."""
    last = max((at for at, _, _ in world.coming), default=0.0)
    while time.monotonic() < last:
        time.sleep(0.01)
    world.settle()
