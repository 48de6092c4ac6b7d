"""Limits over all processes of a sandbox together, where this process may make control groups (versions 1 and 2)."""

import os
import secrets
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tasks_app.sandbox.used import family, own_of

ROOT = Path("/sys/fs/cgroup")
PREFIX = "handrail-"
_left: deque[Path] = deque()


@dataclass(slots=True)
class Group:
    """One sandbox's control group, in each hierarchy that it needs. ``most``: bytes that all of it may hold."""

    folders: tuple[Path, ...]
    most: int
    before: int = 0  # bytes of it that are counted elsewhere

    def take(self, first: int) -> None:
        """Put a process in, and all below it, while they run nothing but what is ours. Raises OSError.

        What one of them starts after it is in is in as well; what it started before is found at the next look. What
        they hold already stays counted where they were: they may have so much less here.
        """
        taken: set[int] = set()
        while left := [pid for pid in family(first) if pid not in taken]:
            for pid in left:
                for folder in self.folders:
                    (folder / "cgroup.procs").write_text(str(pid))
            taken.update(left)
        self.before = own_of(taken)
        _limit(self.folders[0], max(self.most - self.before, 0))

    def out_of_memory(self) -> bool:
        """Whether the kernel ended one of its processes for memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    lines = dict(line.split() for line in (folder / name).read_text().splitlines())
                    if int(lines.get("oom_kill", 0)):
                        return True
        return False

    def memory(self) -> int:
        """Return the most that all of it has held at once (bytes), 0 where nobody says."""
        for folder in self.folders:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                with suppress(OSError):
                    return int((folder / name).read_text()) + self.before
        return 0

    def cpu(self) -> float:
        """Return the processor time that all of it has taken together (seconds), 0 where nobody says."""
        for folder in self.folders:
            with suppress(OSError):
                return int((folder / "cpuacct.usage").read_text()) / 1e9
            with suppress(OSError, KeyError):
                lines = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
                return int(lines["usage_usec"]) / 1e6
        return 0.0

    def remove(self) -> None:
        """Take it away; while something still dies in it that is refused, and done with the next one's."""
        _left.extend(self.folders)
        for _ in range(len(_left)):
            folder = _left.popleft()
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                _left.append(folder)


def group_make(*, memory: int, processes: int) -> Group:
    """Make a group with these limits. Raises OSError."""
    name = f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    if (ROOT / "cgroup.controllers").exists():
        folder = ROOT / name
        folder.mkdir()
        _limit(folder, memory)
        (folder / "pids.max").write_text(str(processes))
        return Group((folder,), memory)
    folders = tuple(ROOT / kind / name for kind in ("memory", "pids"))
    for folder in folders:
        folder.mkdir()
    _limit(folders[0], memory)
    (folders[1] / "pids.max").write_text(str(processes))
    with suppress(OSError):
        counted = ROOT / "cpuacct" / name
        counted.mkdir()
        folders = (*folders, counted)
    return Group(folders, memory)


def _limit(folder: Path, memory: int) -> None:
    name = "memory.max" if (folder / "memory.max").exists() else "memory.limit_in_bytes"
    (folder / name).write_text(str(memory))


@cache
def groups_work() -> bool:
    """Whether this process may make groups; sweeps up what killed workers left."""
    _sweep()
    try:
        group = group_make(memory=64 * 1024 * 1024, processes=16)
    except OSError:
        return False
    group.remove()
    return True


def _sweep() -> None:
    for root in (ROOT, ROOT / "memory", ROOT / "pids", ROOT / "cpuacct"):
        for folder in root.glob(f"{PREFIX}*"):
            with suppress(OSError, ValueError):
                pid = int(folder.name.removeprefix(PREFIX).split("-")[0])
                if not Path(f"/proc/{pid}").exists():
                    folder.rmdir()
