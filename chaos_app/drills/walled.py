"""The sandbox of the drilled call is killed while the outside holds its request; its worker lives on."""

import os
import signal
from contextlib import suppress

from chaos_app.drills import strike
from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Proof, Stage
from chaos_app.drills.strike import NotLandedError
from chaos_app.injector.killing import children_of, command_of, gone

MARK = b"handrail/child.py"  # stands in the command line of what builds the walls; without walls nothing is found


class SandboxKilled(Killed):
    """SIGKILL of the sandbox. Whether it had an effect nobody inside can say any more: the outcome is unknown."""

    def strike(self) -> None:
        """Kill every sandbox of the process that waits for the answer, and prove that they are gone."""
        report = self.in_the_outside()
        if strike.worker_of(self.ground, report) is None:
            raise NotLandedError("The process that acts belongs to no worker of this drill.")
        found = sandboxes_of(report.pid)
        self.mark(Stage.FIRED, what="SIGKILL sent to its sandbox")
        if not found:
            raise NotLandedError("The tool runs in no sandbox.")
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not all(gone(pid, wait=True) for pid in found):
            raise NotLandedError("The sandbox did not end.")
        self.mark(Stage.LANDED, what="its sandbox is gone", pid=found[0], proof=Proof.PROCESS_GONE)
        self.arrive(report)


def sandboxes_of(pid: int) -> list[int]:
    """Return the processes of the sandboxes below a process, the upper ones first."""
    below = [pid]
    for one in below:
        below += children_of(one)
    return [one for one in below[1:] if MARK in command_of(one)]
