"""What a sandbox has used so far, as the kernel counts it: read from outside, before all of it is ended."""

import os
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def used_by(first: int) -> tuple[float, int]:
    """Return (CPU seconds, bytes): of a process and all below it, those included that have ended there."""
    seconds, size = 0.0, 0
    for pid in _family(first):
        with suppress(OSError, ValueError, IndexError):
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICKS  # its own and its children's, in user and kernel mode
            size += _most(pid)
    return seconds, size


def _family(first: int) -> list[int]:
    found = [first]
    for pid in found:
        for thread in (PROC / str(pid) / "task").glob("*/children"):  # each thread has those that it started
            with suppress(OSError):
                found += map(int, thread.read_text().split())
    return found


def _most(pid: int) -> int:
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
