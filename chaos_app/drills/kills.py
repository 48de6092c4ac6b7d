"""Deaths: a process is ended at a place in the code, within a commit, or while the outside holds its request."""

import time
from dataclasses import replace
from uuid import UUID

from chaos_app.drills import strike
from chaos_app.drills.barrier import Hold
from chaos_app.drills.case import Case, system_of
from chaos_app.drills.cells import Cell
from chaos_app.drills.evidence import Mark
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.limits import LAG, TIMEOUT
from chaos_app.drills.names import Fault, Klass, Stage
from chaos_app.drills.strike import NotLandedError, Victims
from chaos_app.injector.killing import Victim
from chaos_app.injector.report import Report
from core.boundaries import Boundary, Position

VICTIMS = {
    Fault.KILL: Victim.CHILD,
    Fault.KILL_WORKER: Victim.WORKER,
    Fault.KILL_BOTH: Victim.WORKER_AND_KEEPER,
}
TOLD = {Fault.ANSWER_ERROR: "fail_after", Fault.ANSWER_LOST: "lose_answer"}
HOLDS = {Position.IN_FLIGHT: "before", Position.APPLIED: "applied"}
HELD_WITHIN = 60.0
# Seconds after it was sent at which a request that was on its way arrives: what is looked up, as late as promised.
LATE, LATEST = 2.0, TIMEOUT + LAG
PROMISED = 1.5  # seconds from there to the first look (send_by is 2 s after the attempt)


class Killed(Case):
    """A case in which a process is killed, once or twice."""

    hold: Hold | None = None
    second: Hold | None = None
    held: int | None = None  # the hold of the outside world

    @property
    def plan(self) -> Cell:
        """The cell."""
        assert self.cell is not None
        return self.cell

    def when_begun(self, task: UUID) -> None:
        """Tell the outside what to do to the drilled request."""
        cell, client = self.plan, self.outside_client
        match = {"call": f"{task}/{cell.call or 'act'}", "attempt": 1}
        system = "batch" if cell.workload == "batch" else system_of(Klass(cell.klass))
        if cell.told in TOLD:
            client.arm(system, TOLD[cell.told], match=match)
        if cell.row == "E07":
            client.arm(system, "partial", match=match, count=1)
        elif self.outside:
            self.held = client.arm(system, "hold", match=match, at=HOLDS[Position(self.plan.place[1])]).id  # type: ignore[index]

    @property
    def outside(self) -> bool:
        """Whether the outside world holds the request."""
        place = self.plan.place
        return place is not None and Position(place[1]) in HOLDS and self.plan.row != "E07"

    def arm(self) -> None:
        """Wait for the place."""
        place = ("E06", "after_receive") if self.plan.row == "E07" else self.plan.place
        if place is not None and not self.outside:
            self.hold = self.ground.barrier.arm(self.post, self.point(place))
        self.mark(Stage.ARMED, what="planned")

    def strike(self) -> None:
        """Kill, and kill the one that takes over where the cell says so."""
        self._first()
        if self.second is not None:
            self.wait(self.second, what=" by the worker that took over")
            self._kill(self.second, fault=1)

    def _arm_second(self, report: Report) -> None:
        """Wait for whoever takes over, before the first is killed: a takeover is quick."""
        if self.plan.second is not None:
            point = self.point(self.plan.second, after=report.epoch or 0)
            self.second = self.ground.barrier.arm(self.post, point)
            self.mark(Stage.ARMED, fault=1, what="planned for whoever takes over")

    def _first(self) -> None:
        if self.hold is not None:
            self.wait(self.hold)
            self._arm_second(self.hold.where)
            self._kill(self.hold)
            return
        report = self.in_the_outside()
        self._arm_second(report)
        self.kill_outside(report)

    def kill_outside(self, report: Report) -> None:
        """Kill who waits for the answer of a request that the outside holds, then let the request arrive."""
        self.mark(Stage.FIRED, what="SIGKILL sent")
        landed = strike.killed(self.ground, Victims(report=report), VICTIMS[self.plan.fault])
        self.note(landed)
        self.arrive(report)

    def arrive(self, report: Report) -> None:
        """Let the request arrive late, but no later than the outside promises; what would is lost on its way."""
        assert self.held is not None
        latest = self._sent_at(report) + self._late()
        self.pause(max(latest - time.time(), 0.0))
        is_too_late = self.plan.row == "E03" and time.time() > latest + PROMISED
        self.outside_client.release(self.held, then="cut" if is_too_late else "go")

    def _sent_at(self, report: Report) -> float:
        """Return when the attempt was about to send: its deadline is counted from before that."""
        mine = [one for one in self.post.crossed if (one.report.task, one.report.epoch) == (report.task, report.epoch)]
        return max((one.at for one in mine if one.report.boundary == Boundary.SEND), default=time.time())

    def _late(self) -> float:
        if self.plan.row != "E03":
            return 0.0
        latest = LATEST if self.own is None else self.own.target.contract.timeout + self.own.target.contract.lag
        return latest if self.klass in {Klass.READABLE, Klass.PRECONDITION} else LATE

    def _kill(self, hold: Hold, fault: int = 0) -> None:
        report = hold.where
        if self.cell is not None and self.cell.is_of_copy and report.task != self.task:
            self.struck = report.task
        self.mark(Stage.REACHED, fault=fault, at=hold.at, what=_where(report), pid=report.pid, epoch=report.epoch)
        plan = ""
        place = self.plan.place if fault == 0 else self.plan.second
        if place is not None and Position(place[1]) in strike.FATES:
            plan = strike.at_commit(self.ground, hold, Position(place[1]))
        order = self._order_of(report)
        self.mark(Stage.FIRED, fault=fault, what="SIGKILL sent")
        victim = VICTIMS[self.plan.fault] if order is None else Victim.CHILD
        try:
            landed = strike.killed(self.ground, Victims(report=report, order=order), victim)
        finally:
            hold.go.set()
            if plan:
                self.ground.door.tell_name(plan, "release")
        self.note(self._of_no_lease(landed, report, place), fault=fault)

    def _order_of(self, report: Report) -> Ticket | None:
        """Return what a person's process, or a sweeper, was told to do; its parent knows how it ends."""
        mine = (one for one in self.orders if one.stages.get("forked", {}).get("pid") == report.pid)
        return next(mine, None) or self.ground.sweepers.of(report.pid)

    def _of_no_lease(self, landed: Mark, report: Report, place: tuple[str, str] | None) -> Mark:
        """A claim that was never committed is no lease: the next one has its number."""
        lost = report.boundary == Boundary.CLAIM and place is not None and place[1] in {"before", "commit-dropped"}
        return replace(landed, epoch=None) if lost else landed

    def in_the_outside(self) -> Report:
        """Return who waits for the answer of the request that the outside holds."""
        client, until = self.outside_client, time.monotonic() + HELD_WITHIN
        while self.held is None or client.fault(self.held).parked == 0:
            self.tick()
            if time.monotonic() > min(until, self.until):
                raise NotLandedError("The request never came to the outside.")
            time.sleep(0.05)
        assert self.task is not None
        report = self.post.last(self.task)
        if report is None:
            raise NotLandedError("Nobody is known to have sent the request.")
        self.mark(Stage.REACHED, what="the outside holds the request", pid=report.pid, epoch=report.epoch)
        return report


def _where(report: Report) -> str:
    call = f" of {report.call}" if report.call else ""
    return f"process {report.pid} waits at {report.boundary.value} {report.position.value}{call}"
