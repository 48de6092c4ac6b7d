"""Faults of the sweeper: none is there, or several are, while a task is due that no message tells of."""

import os
import signal
from contextlib import ExitStack

from chaos_app.drills.barrier import Point
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError, in_words
from core.boundaries import Boundary, Position

UNTOLD = Point(boundary=Boundary.WAKE_UP, position=Position.BEFORE)
AWAY = 1.5  # seconds without any sweeper
MORE = 2  # sweepers beside the usual one
WITHIN = 20.0


class Sweeping(Killed):
    """Whoever created the task dies before telling anybody: only a sweeper can find it."""

    def arm(self) -> None:
        """Wait until the task exists and nobody was told."""
        self.hold = self.ground.barrier.arm(self.post, UNTOLD)
        self.mark(Stage.ARMED, what="planned")

    def strike(self) -> None:
        """Take the sweepers away for a while, or let several run."""
        assert self.hold is not None
        self.wait(self.hold)
        self.mark(Stage.REACHED, at=self.hold.at, what="the task is due and nobody was told", pid=self.hold.where.pid)
        self.mark(Stage.FIRED, what=str(self.plan.fault))
        with ExitStack() as stack:
            if self.plan.fault == Fault.SWEEPER:
                stack.enter_context(self.ground.sweepers.away())
                self._end()
                self._die()
                self.pause(AWAY)
                self._still()
            else:
                stack.callback(self._take_away, self._more())
                self._die()
                self.settle()

    def _end(self) -> None:
        for ticket in self.ground.sweepers.living:
            os.kill(_pid(ticket), signal.SIGKILL)
            ended = ticket.wait("ended", seconds=WITHIN)
            if ended is None:
                raise NotLandedError("The sweeper did not end.")
            what = f"the sweeper, process {ended['pid']}, has ended; for {AWAY:g} s there is none"
            status = in_words(ended["status"])
            self.mark(Stage.LANDED, what=what, pid=ended["pid"], exit_status=status, proof=Proof.EXIT_STATUS)

    def _still(self) -> None:
        """Without message and sweeper nobody can know of the task: if it moved, this case shows nothing."""
        if any(seen.head_seq > 1 for seen in self.watch.of(self.name)):
            raise NotLandedError("The task was found without message and without sweeper.")

    def _more(self) -> list[Ticket]:
        made = self.ground.sweepers.more(MORE)
        pids = [_pid(ticket) for ticket in made]
        self.mark(Stage.LANDED, what=f"sweepers run beside the usual one: processes {pids}", proof=Proof.TOLD)
        return made

    def _take_away(self, made: list[Ticket]) -> None:
        self.ground.sweepers.fewer(made)
        for ticket in made:
            os.kill(_pid(ticket), signal.SIGKILL)

    def _die(self) -> None:
        """End the process that would tell, and let it be seen by nobody that it was there."""
        assert self.hold is not None
        os.kill(self.hold.where.pid, signal.SIGKILL)
        self.hold.go.set()


def _pid(ticket: Ticket) -> int:
    forked = ticket.wait("forked", seconds=WITHIN)
    if forked is None:
        raise NotLandedError("The sweeper never began.")
    pid: int = forked["pid"]
    return pid
