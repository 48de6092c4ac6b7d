"""Faults that people make: what was approved is no longer valid when it is to be used; many take it up at once."""

import time
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from chaos_app.drills.barrier import Hold, Point
from chaos_app.drills.case import Case
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError
from core.boundaries import Boundary, Position
from tasks_app.models import Event

HELD_AT = Point(boundary=Boundary.ATTEMPT, position=Position.BEFORE, call="act")
ACTED_WITHIN = 40.0
MANY = 8  # deliveries at once


class Invalid(Case):
    """Between the decision and its use a person takes it back, cancels, or stops everything of its kind."""

    hold: Hold | None = None
    stop_id: int = 0

    def __post_init__(self) -> None:
        """Take the tools and the agent that this fault needs."""
        assert self.cell is not None
        intent = dict(self.workload.intent)
        if self.cell.fault == Fault.EXPIRED:
            self.workload = replace(self.workload, intent={**intent, "lapsing": True})
        if self.cell.fault == Fault.STOPPED:
            self.workload = replace(self.workload, agent=f"drill.stopped.{self.klass}")
        super().__post_init__()

    def arm(self) -> None:
        """Wait for the attempt under the approval."""
        self.hold = self.ground.barrier.arm(self.post, HELD_AT)
        self.mark(Stage.ARMED, what="planned between the decision and its use")

    def strike(self) -> None:
        """Hold the worker before the attempt's transaction, let the person act, let it go on."""
        assert self.hold is not None
        assert self.cell is not None
        if self.cell.fault == Fault.EXPIRED and self._lapsed_unused():
            return
        self.wait(self.hold)
        report = self.hold.where
        self.mark(
            Stage.REACHED, at=self.hold.at, what="a worker is about to use it", pid=report.pid, epoch=report.epoch
        )
        do, kinds = self._act()
        self.mark(Stage.FIRED, what=str(self.cell.fault))
        try:
            do()
            self._landed(kinds)
        finally:
            self.hold.go.set()
        if self.cell.fault == Fault.STOPPED:
            self._lift()

    def _lapsed_unused(self) -> bool:
        """Whether its time was over before any worker came to use it, as on a slow machine: nobody is held then."""
        assert self.hold is not None
        while not self.hold.reached.wait(0.2) and time.monotonic() < self.until:
            self.tick()
            if self.task and Event.objects.filter(stream=self.task, kind="approval.lapsed").exists():
                self._landed(("approval.lapsed",))
                return True
        return False

    def _act(self) -> tuple[Callable[[], object], tuple[str, ...]]:
        assert self.cell is not None
        task = str(self.task)
        match self.cell.fault:
            case Fault.REVOKED:
                return self._revoke, ("approval.revoked",)
            case Fault.CANCELLED:
                return lambda: self._done("cancel", task=task), ("task.cancel_requested",)
            case Fault.STOPPED:
                return self._stop, ()
            case _:  # nobody uses it in time: the worker is held until then
                return lambda: None, ("approval.lapsed",)

    def _revoke(self) -> None:
        until = time.monotonic() + ACTED_WITHIN
        while not (approvals := [one for seen in self.watch.of(self.name) for one in seen.asked("approved")]):
            if time.monotonic() > until:
                raise NotLandedError("No approval was seen that could be revoked.")
            time.sleep(0.05)  # the look at the record is a moment old
        for one in approvals:
            self._done("revoke", approval=str(one["id"]))

    def _stop(self) -> None:
        self.stop_id = self._done("stop", scope="agent", name=self.workload.agent).get("stop", 0)
        self.mark(Stage.LANDED, what="the stop stands", proof=Proof.RECORD)

    def _lift(self) -> None:
        """Let it go on once it has been seen waiting for the stop."""
        until = time.monotonic() + ACTED_WITHIN
        while not any((one.wait or {}).get("kind") == "stop" for one in self.watch.of(self.name)):
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        self._done("stop", lift=self.stop_id)

    def _done(self, do: str, **more: object) -> dict[str, int]:
        ticket = self.order(do, **more)
        said = ticket.wait("done", "failed", seconds=ACTED_WITHIN)
        if said is None or said["stage"] == "failed":
            raise NotLandedError(f"{do}: {said['answer'] if said else 'no answer'}")
        answer: dict[str, int] = said["answer"]
        return answer

    def _landed(self, kinds: tuple[str, ...]) -> None:
        until = time.monotonic() + ACTED_WITHIN
        while kinds and not Event.objects.filter(stream=self._stream(), kind__in=kinds).exists():
            if time.monotonic() > until:
                raise NotLandedError(f"The record never said {kinds[0]}.")
            time.sleep(0.05)
        if kinds:
            self.mark(Stage.LANDED, what=f"the record says {kinds[0]}", proof=Proof.RECORD)

    def _stream(self) -> UUID:
        if self.task is None:
            raise NotLandedError("There is no task.")
        return self.task


class Many(Case):
    """Many workers are told of one approved call at once."""

    hold: Hold | None = None

    def arm(self) -> None:
        """Wait for the first of them: it is held until the others have been told too."""
        self.hold = self.ground.barrier.arm(
            self.post, Point(boundary=Boundary.APPROVAL_WAKE_UP, position=Position.BEFORE)
        )
        self.mark(Stage.ARMED, what=f"{MANY} deliveries at once are planned")

    def strike(self) -> None:
        """Send the message many times while the approval stands and nobody has used it."""
        assert self.hold is not None
        self.wait(self.hold)
        before = self._delivered()
        self.mark(Stage.REACHED, at=self.hold.at, what="decided, and nobody was told")
        self.mark(Stage.FIRED, what=f"{MANY} messages sent")
        self.order("wake", task=str(self.task), count=MANY)
        self.hold.go.set()
        until = time.monotonic() + ACTED_WITHIN
        while self._delivered() - before < MANY // 2:
            self.tick()
            if time.monotonic() > until:
                raise NotLandedError("The messages did not arrive.")
            time.sleep(0.05)
        what = f"{self._delivered() - before} workers took it up"
        self.mark(Stage.LANDED, what=what, proof=Proof.RECORD)

    def _delivered(self) -> int:
        return sum(1 for one in list(self.post.crossed) if one.report.boundary == Boundary.DELIVERED)
