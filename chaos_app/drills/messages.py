"""Faults of single messages: the one that tells a worker of the task is lost on its way, or arrives twice.

The drill's own door before the broker does it, and its log is the proof.
"""

from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError

FATES = {Fault.MESSAGE_LOST: "lost", Fault.MESSAGE_TWICE: "twice"}
WITHIN = 20.0


class Messages(Killed):
    """A process waits just before it tells; what it then sends meets its fate."""

    def strike(self) -> None:
        """Arm the door for the task's next message, and let the process send it."""
        assert self.hold is not None
        self.wait(self.hold)
        report, fault = self.hold.where, self.plan.fault
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid)
        plan = self.ground.door.order("message", containing=str(self.task), fate=FATES[fault])
        if plan.wait("armed", seconds=WITHIN) is None:
            raise NotLandedError("The door before the broker did not answer.")
        self.mark(Stage.FIRED, what=f"its next message is to be {FATES[fault]}")
        self.hold.go.set()
        seen = plan.wait("fired", seconds=WITHIN)
        if seen is None:
            raise NotLandedError("No message about the task was sent.")
        self.mark(Stage.LANDED, at=seen["at"], what=seen["what"], proof=Proof.PROXY_LOG)
