"""Faults that leave the process alive: stopped until its lease is lost, or hanging while its lease is renewed."""

import time
from dataclasses import replace

from chaos_app.drills import strike
from chaos_app.drills.barrier import Hold, Point
from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Proof, Stage
from chaos_app.drills.strike import NotLandedError, Victims
from chaos_app.injector.killing import gone
from chaos_app.injector.report import Report
from core.boundaries import Boundary, Position

SUCCESSOR = Point(boundary=Boundary.CLAIMED, position=Position.AFTER)
LOST_WITHIN = 20.0  # seconds for a lease of a stopped process to be lost, and for the next claim
SPEAKS_WITHIN = 5.0  # seconds for a process that came back to say what it holds


class Zombie(Killed):
    """SIGSTOP until the lease is lost and somebody has taken over, then SIGCONT."""

    def strike(self) -> None:
        """Stop, wait for the takeover, let it go on."""
        report = self._reached()
        strike.stop(report.pid)
        self.mark(Stage.FIRED, what="SIGSTOP sent; the process is stopped (state T)", pid=report.pid)
        successor = self._successor(report)
        if self.hold is not None:
            self.hold.go.set()
        try:
            self._until_taken_over(report)
        finally:
            strike.go_on(report.pid)
        if self.hold is None:
            self.arrive(report)  # the answer that it waits for
        try:
            self._until_it_has_spoken(report)
        finally:
            successor.go.set()

    def _reached(self) -> Report:
        """Wait until a process is at the place, or waits for an answer that the outside holds."""
        if self.hold is None:
            return self.in_the_outside()
        self.wait(self.hold)
        report = self.hold.where
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid, epoch=report.epoch)
        return report

    def _successor(self, report: Report) -> Hold:
        """Hold whoever takes over until the old process has spoken, where the case is about what that one writes."""
        if self.plan.row != "L05":
            return Hold(point=SUCCESSOR)
        return self.ground.barrier.arm(self.post, replace(SUCCESSOR, after=report.epoch or 0))

    def _until_taken_over(self, report: Report) -> None:
        until, old = time.monotonic() + LOST_WITHIN, lease_before(report)
        while not any(seen.id == report.task and seen.lease_epoch > old for seen in self.watch.of(self.name)):
            self.tick()
            if gone(report.pid):
                raise NotLandedError("The stopped process was ended before its lease was lost.")
            if time.monotonic() > until:
                raise NotLandedError("The lease of the stopped process was never taken over.")
            time.sleep(0.05)
        what = "its lease was lost and taken over"
        epoch = None if old < (report.epoch or 0) else old
        self.mark(Stage.LANDED, what=what, pid=report.pid, epoch=epoch, proof=Proof.STOPPED)

    def _until_it_has_spoken(self, report: Report) -> None:
        """Wait until the process that came back has written what it holds (refused, and kept), or plainly goes on."""
        until = time.monotonic() + SPEAKS_WITHIN
        while time.monotonic() < until and not gone(report.pid):
            self.tick()
            if any(seen.id == report.task and seen.late for seen in self.watch.of(self.name)):
                return
            time.sleep(0.1)


class Forsaken(Zombie):
    """SIGSTOP while nobody is there to end it; SIGCONT once another has done its work: ``send_by`` holds it back."""

    def strike(self) -> None:
        """Stop it, kill its keeper, wait until the next one is done, let it go on."""
        assert self.hold is not None
        self.wait(self.hold)
        report = self.hold.where
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid, epoch=report.epoch)
        strike.stop(report.pid)
        try:
            killed = strike.keeper_dead(report.pid)
            what = f"SIGSTOP sent; the process is stopped (state T), its keeper (process {killed}) is dead"
            self.mark(Stage.FIRED, what=what, pid=report.pid)
            self.hold.go.set()
            self._until_taken_over(report)
            self._until_done(report)
        finally:
            strike.go_on(report.pid)
        self._until_it_has_spoken(report)

    def _until_done(self, report: Report) -> None:
        """Wait until the next one has come to an end, while the old process is stopped still."""
        while not all(seen.rests and seen.lease_epoch > (report.epoch or 0) for seen in self.watch.of(self.name)):
            self.tick()
            if gone(report.pid):
                raise NotLandedError("The stopped process was ended before the next one was done.")
            if time.monotonic() > self.until:
                raise NotLandedError("The next worker never came to an end.")
            time.sleep(0.05)


def lease_before(report: Report) -> int:
    """Return the number above which a lease is another one's: a claim that is not committed is no lease yet."""
    is_claiming = (report.boundary, report.position) == (Boundary.CLAIM, Position.BEFORE)
    return (report.epoch or 0) - is_claiming


class Hang(Killed):
    """The process does nothing any more: its keeper ends it at a deadline, or others go on where it holds no lease."""

    def strike(self) -> None:
        """Leave it where it waits until its keeper has ended it, or the task has gone on without it."""
        assert self.hold is not None
        self.wait(self.hold)
        report = self.hold.where
        self.mark(Stage.REACHED, at=self.hold.at, what="a process hangs there", pid=report.pid, epoch=report.epoch)
        self.mark(Stage.FIRED, what="left alone; its keeper goes on to renew")
        while not gone(report.pid):
            self.tick()
            # Where the keeper is drilled, its act alone counts: a lease that runs out would hide that it does nothing.
            if self.plan.row != "L04" and self._went_on(report) and not gone(report.pid):
                self.mark(
                    Stage.LANDED, what="it hangs still; the task goes on without it", pid=report.pid, proof=Proof.RECORD
                )
                self.hold.go.set()
                return
            if time.monotonic() > self.until:
                raise NotLandedError("Nothing ended the process that hangs.")
            time.sleep(0.1)
        self._ended(report)
        self.hold.go.set()

    def _went_on(self, report: Report) -> bool:
        mine = [seen for seen in self.watch.of(self.name) if seen.id == report.task]
        return any(seen.lease_epoch > lease_before(report) or (seen.ended and not seen.lease_nonce) for seen in mine)

    def _ended(self, report: Report) -> None:
        said = strike.exit_status(self.ground, Victims(report=report))
        self.mark(
            Stage.LANDED,
            what="ended by its keeper",
            pid=report.pid,
            epoch=report.epoch,
            exit_status=said or None,
            proof=Proof.EXIT_STATUS if said else Proof.PROCESS_GONE,
        )
