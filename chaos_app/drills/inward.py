"""Faults that a process makes to itself at a place: it raises an error that nobody knows, or its clock is wrong."""

import time

from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError
from chaos_app.injector.report import CLOCK, RAISE

AHEAD = 7200  # seconds by which a wrong clock is ahead
ANSWERS = {Fault.EXCEPTION: RAISE, Fault.CLOCK: CLOCK + b"%d\n" % AHEAD}
TOLD_WITHIN = 10.0


class Inward(Killed):
    """The process at the place is told what to do to itself, says that it has understood, and does it."""

    def strike(self) -> None:
        """Tell it."""
        assert self.hold is not None
        self.wait(self.hold)
        report, fault = self.hold.where, self.plan.fault
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid, epoch=report.epoch)
        self.hold.answer = ANSWERS[fault]
        self.mark(Stage.FIRED, what=str(fault))
        self.hold.go.set()
        if not self.hold.confirmed.wait(TOLD_WITHIN) or self.hold.confirmation is None:
            raise NotLandedError("The process did not answer.")
        if fault == Fault.EXCEPTION:
            what, epoch = "it raised there", report.epoch
        else:
            off, epoch = self.hold.confirmation.clock - time.time(), None
            if off < AHEAD / 2:
                raise NotLandedError(f"Its clock is {off:.0f} s ahead only.")
            what = f"its clock is {off:.0f} s ahead"
        self.mark(Stage.LANDED, what=what, pid=report.pid, epoch=epoch, proof=Proof.TOLD)
