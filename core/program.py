"""One row of the process table, and what the supervisor knows about it while it runs."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from core.embedded import children

# A worker ends its slices at SIGTERM, leaves at once at SIGQUIT; the last word is SIGKILL, and loses nothing either.
GENTLY: children.Steps = ((signal.SIGTERM, 8.0), (signal.SIGQUIT, 3.0))
FIRST_DELAY, LONGEST_DELAY = 0.1, 5.0
# One that lived this long (seconds) had started well: the count of failures begins again.
SETTLED = 10.0


class Member(Protocol):
    """What can be kept running: a program of ours, or an embedded service."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def steps(self) -> children.Steps: ...  # noqa: D102

    def launch(self) -> subprocess.Popen[bytes]: ...  # noqa: D102


class Service(Member, Protocol):
    """An embedded service: it runs already when the supervisor takes it over."""

    @property
    def process(self) -> subprocess.Popen[bytes] | None: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Program:
    """A command of the process table. It dies with the supervisor, by SIGKILL if the supervisor is killed."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    steps: children.Steps = GENTLY

    def launch(self) -> subprocess.Popen[bytes]:
        """Start it, with its output in a pipe."""
        return children.start(
            self.command,
            env=os.environ | dict(self.environment),
            cwd=self.folder,
            output=subprocess.PIPE,
        )


class Seat:
    """A member's place in the supervisor: its process, when it is due, how often it failed, how it is being stopped."""

    def __init__(self, member: Member, process: subprocess.Popen[bytes] | None = None) -> None:
        self.member = member
        self.process = process
        self.due = 0.0
        self.failures = 0
        self._since = 0.0
        self._steps: Iterator[tuple[signal.Signals, float]] | None = None
        self._next_step = 0.0

    def launch(self, now: float) -> subprocess.Popen[bytes]:
        """Start the member's process."""
        self._since = now
        self.process = self.member.launch()
        return self.process

    def fail(self, now: float) -> float:
        """Note an end, or a start that did not come about; return the seconds to wait before the next start."""
        self.process = None
        self.failures = 1 if now - self._since > SETTLED else self.failures + 1
        delay = min(FIRST_DELAY * 2 ** (self.failures - 1), LONGEST_DELAY)
        self.due = now + delay
        return float(delay)

    def push(self, now: float, *, hurry: bool) -> None:
        """Send the next signal on the way to the end, if the last one has had its time."""
        if self.process is None or (now < self._next_step and not hurry):
            return
        self._steps = self._steps or iter(self.member.steps)
        number, seconds = (signal.SIGKILL, 1.0) if hurry else next(self._steps, (signal.SIGKILL, 1.0))
        self._next_step = now + seconds
        with suppress(ProcessLookupError):
            self.process.send_signal(number)


class Leftovers:
    """Process groups whose leader ended and in which something still runs: a worker's keeper, for one."""

    def __init__(self) -> None:
        self._groups: set[int] = set()

    def note(self, group: int) -> None:
        """Remember the group of a leader that has just ended."""
        self._groups.add(group)
        self.prune()

    def prune(self) -> None:
        """Forget the groups in which nothing runs any more: their number may be given to others."""
        self._groups = {group for group in self._groups if _signal(group, 0)}

    def end(self, seconds: float = 2.0) -> None:
        """Wait for them to go by themselves, then kill what is left."""
        until = time.monotonic() + seconds
        self.prune()
        while self._groups and time.monotonic() < until:
            time.sleep(0.02)
            self.prune()
        for group in self._groups:
            _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
