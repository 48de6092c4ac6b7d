"""What a sandbox has used so far, as the kernel counts it: read from outside, before all of it is ended."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def used_by(first: int) -> tuple[float, int]:
    """Return (CPU seconds, bytes): of a process and all below it, those included that have ended there."""
    seconds, size = 0.0, 0
    for pid in family(first):
        with suppress(OSError, ValueError, IndexError):
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICKS  # its own and its children's, in user and kernel mode
        size += _size(pid, "VmHWM:")
    return seconds, size


def own_of(pids: Iterable[int]) -> int:
    """Return the bytes that these processes hold for themselves, without what they read from files."""
    return sum(_size(pid, "RssAnon:") for pid in pids)


def families_shown() -> bool:
    """Whether this kernel says which processes a process has started."""
    return os.path.exists(PROC / "thread-self" / "children")


def family(first: int) -> list[int]:
    """Return a process and all that are below it."""
    found = [first]
    for pid in found:
        for thread in (PROC / str(pid) / "task").glob("*/children"):  # each thread has those that it started
            with suppress(OSError):
                found += map(int, thread.read_text().split())
    return found


def _size(pid: int, what: str) -> int:
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1]) * 1024
    return 0
