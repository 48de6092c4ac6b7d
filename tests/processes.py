"""Real processes for tests: started and ended with the test, watched by condition instead of by sleeping."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 3  # a machine may be so many times slower than the one on which a test was written


def wait_for[T](look: Callable[[], T], *, seconds: float = 30, what: str = "") -> T:
    """Call ``look`` until it returns something true, and return that; fail after ``seconds`` of a quick machine.

    No bound on behaviour: those are read off the database's clock.
    """
    until = time.monotonic() + seconds * PATIENCE
    while not (found := look()):
        if time.monotonic() > until:
            raise AssertionError(f"waited {seconds * PATIENCE} s in vain for {what or getattr(look, '__name__', look)}")
        time.sleep(0.01)
    return found


@contextmanager
def running(
    *command: str, env: Mapping[str, str], log: Path, stop: signal.Signals = signal.SIGTERM
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python COMMAND...`` in the project's folder, its output in ``log``; end it, and it alone, at the end."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, *command], env=env, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(stop)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=30)


def children(pid: int) -> list[int]:
    """Return the living direct children of a process, whichever of its threads started them."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found += [int(word) for word in path.read_text().split()]
    return [child for child in found if alive(child)]


def pool_processes(worker: int) -> set[int]:
    """Return the pool processes of a prefork worker: the children that were forked and became nothing else."""
    ours = _command_line(worker)
    return {child for child in children(worker) if _command_line(child) == ours}


def _command_line(pid: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def descendants(pid: int) -> list[int]:
    """Return all living processes below a process."""
    found = children(pid)
    return found + [below for child in found for below in descendants(child)]


def alive(pid: int) -> bool:
    """Whether a process runs (one that only waits to be reaped does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill(pid: int) -> None:
    """SIGKILL a process that may be gone already."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
