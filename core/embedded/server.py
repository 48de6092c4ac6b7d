"""What the embedded servers share: a process that is a direct child, and how it is ended."""

import subprocess

from core.embedded import children


class Server:
    """One server process. ``steps``: how it is asked to end, each with the seconds that it has."""

    steps: children.Steps = ()

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """End it in order, if it runs."""
        if self.process is not None:
            children.stop(self.process, self.steps)

    def kill(self) -> None:
        """End it as a crash would (for tests and drills)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
