"""The sandbox of the drilled call is killed while the outside holds its request; its worker lives on."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from chaos_app.drills import strike
from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Proof, Stage
from chaos_app.drills.strike import NotLandedError
from tasks_app.keeper.process import WatchedProcess

MARK = b"handrail/child.py"  # stands in the command line of whatever runs a sandbox
GONE_WITHIN = 3.0


class SandboxKilled(Killed):
    """SIGKILL of the sandbox. Whether it had an effect nobody inside can say any more: the outcome is unknown."""

    def strike(self) -> None:
        """Kill every sandbox of the process that waits for the answer, and prove that they are gone."""
        report = self._in_the_outside()
        if strike.worker_of(self.ground, report) is None:
            raise NotLandedError("The process that acts belongs to no worker of this drill.")
        found = [WatchedProcess(pid) for pid in sandboxes_of(report.pid)]
        self.mark(Stage.FIRED, what="SIGKILL sent to its sandbox")
        if not found:
            raise NotLandedError("The tool runs in no sandbox.")
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        until = time.monotonic() + GONE_WITHIN
        while not all(process.gone() for process in found):
            if time.monotonic() > until:
                raise NotLandedError("The sandbox did not end.")
            time.sleep(0.005)
        for process in found:
            process.close()
        self.mark(Stage.LANDED, what="its sandbox is gone", pid=found[0].pid, proof=Proof.PROCESS_GONE)
        self._arrive(report)


def sandboxes_of(pid: int) -> list[int]:
    """Return the processes of the sandboxes below a process, the upper ones first."""
    below = [pid]
    for one in below:
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                below += [int(word) for word in path.read_text().split()]
    return [one for one in below[1:] if MARK in _command_line(one)]


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
