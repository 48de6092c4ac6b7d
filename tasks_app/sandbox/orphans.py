"""Sandboxes whose worker died while they were being made.

From bubblewrap's clone until its inner process asks to die with its parent, that one waits for a word of the outer one.
If the outer one is killed just then, with its worker, it waits for ever: seen once in some hundred kills. So each start
carries the name of the process that made it, and whoever sees one without its maker ends it.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

MARK = "handrail-sandbox"
PROC = Path("/proc")


def mark() -> str:
    """Return the name under which this process starts bubblewrap: its number, and when it began (numbers recur)."""
    return f"{MARK}:{os.getpid()}:{began(os.getpid())}"


def orphans_end() -> int:
    """Kill what was started under the name of a process that has gone; return how many."""
    return sum(_end(int(path.name)) for path in PROC.glob("[0-9]*") if _is_orphan(path))


def _is_orphan(path: Path) -> bool:
    try:
        name = (path / "cmdline").read_bytes().partition(b"\0")[0].decode("ascii", "replace")
    except OSError:  # it has ended meanwhile
        return False
    kind, _, maker = name.partition(":")
    pid, _, when = maker.partition(":")
    return kind == MARK and pid.isdigit() and when.isdigit() and began(int(pid)) != when


def _end(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def began(pid: int) -> str:
    """Return when a living process began, in ticks of the kernel; empty where there is none (a zombie is none)."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
