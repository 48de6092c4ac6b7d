"""Limits over all processes of a sandbox together, where this process may make control groups (versions 1 and 2)."""

import os
import secrets
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PREFIX = "handrail-"
_left: deque[Path] = deque()


@dataclass(frozen=True, slots=True)
class Group:
    """One sandbox's control group, in each hierarchy that it needs."""

    folders: tuple[Path, ...]

    def take(self, pid: int) -> None:
        """Put a process in, before it runs anything. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

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
                    return int((folder / name).read_text())
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
        (folder / "memory.max").write_text(str(memory))
        (folder / "pids.max").write_text(str(processes))
        return Group((folder,))
    folders = tuple(ROOT / kind / name for kind in ("memory", "pids"))
    for folder in folders:
        folder.mkdir()
    (folders[0] / "memory.limit_in_bytes").write_text(str(memory))
    (folders[1] / "pids.max").write_text(str(processes))
    with suppress(OSError):
        counted = ROOT / "cpuacct" / name
        counted.mkdir()
        folders = (*folders, counted)
    return Group(folders)


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
