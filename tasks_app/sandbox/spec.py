"""What a sandbox is asked to run, under which limits, and how it ended. Pure: no Django, no processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MIB, PAGE = 1024 * 1024, 4096
ROLES = ("execute", "start", "poll", "find", "verify", "seen")  # the functions of a contract that run inside


class Wanted(StrEnum):
    """What a contract wants of its sandbox."""

    AVAILABLE = "available"  # the strongest that this machine gives; the level that it had is shown
    FULL = "full"  # refuses to run where any part is missing
    NONE = "none"  # in the worker itself, for a reason that is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call may use. Sizes in bytes, times in seconds; wall time is the call's deadline."""

    memory: int = 1024 * MIB
    processes: int = 64  # processes and threads together
    cpu: float = 60.0
    file: int = 64 * MIB  # the largest file
    space: int = 64 * MIB  # the private temporary folder, which is memory; each file in it counts as a page at least
    output: int = 4 * MIB  # the answer
    descriptors: int = 256

    @property
    def files(self) -> int:
        """Return how many there may be in the temporary folder: what an empty one takes of the kernel is not space."""
        return max(self.space // PAGE, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The walls of a sandbox before any call is in it: two calls with the same frame could use the same one."""

    paths: tuple[str, ...] = ()  # what stands on sys.path inside
    mounts: tuple[str, ...] = ()  # host paths that are seen inside, read-only, under the same name
    limits: Limits = field(default_factory=Limits)
    network: tuple[str, ...] = ()  # host:port, each reached through the proxy outside
    ways: str = ""  # the host's folder in which a sandbox with a network gets an empty one, for its way out


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One run: which function, with what, seeing which folders."""

    module: str
    qualname: str
    role: str  # execute, start, poll, find, verify, seen
    tool: str = ""
    version: int = 0
    arguments: tuple[Any, ...] = ()  # JSON values, each with its kind (see child.py)
    frame: Frame = field(default_factory=Frame)
    environment: Mapping[str, str] = field(default_factory=dict)
    proxy: str = ""  # the proxy's socket, where there is a network
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


def doors(network: tuple[str, ...]) -> dict[str, str]:
    """Return for each host that a contract names the address at which it seems to be, inside."""
    hosts = dict.fromkeys(place.rpartition(":")[0] for place in network)
    return {host: f"127.0.1.{number}" for number, host in enumerate(hosts, start=1)}


class How(StrEnum):
    """How a sandbox ended."""

    ANSWERED = "answered"
    RAISED = "raised"
    UNLOADABLE = "unloadable"  # its function could not be loaded: nothing was begun
    NOT_STARTED = "not started"
    KILLED = "killed"
    MEMORY = "out of memory"
    CPU = "out of CPU time"
    TIME = "out of time"
    GARBAGE = "garbage"
    OUTPUT = "answer too large"
    FILES = "too many files"
    REVOKED = "credential revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run took. ``memory``: the largest resident size, in bytes; times in seconds."""

    level: str
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def as_json(self, how: How) -> dict[str, Any]:
        """Return what the record keeps of it."""
        return {
            "level": self.level,
            "ended": how.value,
            "wall_ms": round(self.wall * 1000),
            "cpu_ms": round(self.cpu * 1000),
            "memory_kib": self.memory // 1024,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a run: the reply where there is one, what was printed last, what it took."""

    how: How
    usage: Usage
    reply: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""
    began: bool = False  # the function itself was entered
