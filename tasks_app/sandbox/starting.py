"""Starting one sandbox: its descriptors, its first process, its control group. There is no call in it yet."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tasks_app.sandbox import bubblewrap, levels
from tasks_app.sandbox.bubblewrap import Given
from tasks_app.sandbox.cgroups import Group, group_make, groups_work
from tasks_app.sandbox.identity import namespace_of
from tasks_app.sandbox.orphans import mark
from tasks_app.sandbox.pipes import Ends, readable
from tasks_app.sandbox.spec import Frame, doors
from tasks_app.sandbox.syscalls import filter_here
from tasks_app.sandbox.used import families_shown, used_by
from tasks_app.sandbox.way import way_make, way_remove

NEEDED = ("tasks_app.registry",)  # by every module of a tool
START = 10.0  # seconds for bubblewrap to make its namespaces
GONE = 3.0  # seconds for all of one to be gone once it is killed


@dataclass(slots=True, kw_only=True)
class Running:
    """A sandbox. ``first``: the process with which all of it ends. ``printed``: what it prints arrives here."""

    process: subprocess.Popen[bytes]
    first: int
    channel: socket.socket
    printed: int
    group: Group | None = None
    watched: int | None = None  # a pidfd of the first process, which means no other even after it has gone
    way: Path | None = None  # where its way out will be
    used_before: float = 0.0  # CPU seconds that it took before it was given its call

    def kill(self) -> None:
        """End all of it: with its first process the kernel ends every other inside."""
        with suppress(OSError):
            if self.watched is not None:
                signal.pidfd_send_signal(self.watched, signal.SIGKILL)
            else:
                os.killpg(self.process.pid, signal.SIGKILL)  # not waited for yet, so still its own

    def used(self) -> tuple[float, int]:
        """Return (CPU seconds, bytes) of all of it so far, by its control group where there is one."""
        counted = (self.group.cpu(), self.group.memory()) if self.group else (0.0, 0)
        if all(counted):
            return counted
        seconds, size = used_by(self.first)
        return counted[0] or seconds, counted[1] or size

    def files(self) -> int:
        """Return how many files and folders are in its temporary folder, 0 where nobody says."""
        if self.watched is None:
            return 0
        with suppress(OSError):
            held = os.statvfs(f"/proc/{self.first}/root/tmp")
            return held.f_files - held.f_ffree
        return 0

    def ended_within(self, seconds: float) -> bool:
        """Wait until the process that we started has ended, without taking its exit status."""
        until = time.monotonic() + seconds
        while os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(0.001)
        return True

    def remove(self) -> None:
        """Give back what the kernel keeps for it."""
        self.channel.close()
        os.close(self.printed)
        if self.watched is not None:
            os.close(self.watched)
        if self.way:
            way_remove(self.way)
        if self.group:
            self.group.remove()


def sandbox_start(frame: Frame, level: str, *, common: Sequence[str] = NEEDED) -> Running:
    """Start a sandbox that waits for its call. Raises OSError where it does not start.

    It ends with the thread that starts it. ``common``: modules of ours and installed ones that it loads meanwhile. No
    tool's: it is still being put into its control group.
    """
    ends = Ends()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.settimeout(START)
        ours.sendall(_setting(frame, level, common))  # it is read as soon as there is somebody
        printed, printing = ends.pipe()
        start = _walled if level == levels.NAMESPACES else _bare
        running = start(frame, ends, ours, theirs.fileno(), printing)
        running.printed = ends.keep(printed)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        ends.close_all()
    ours.setblocking(False)
    return running


def _setting(frame: Frame, level: str, common: Sequence[str]) -> bytes:
    """Write what the inside has to know of its walls."""
    addresses = doors(frame.network) if level == levels.NAMESPACES else {}
    network = [[place, addresses[place.rpartition(":")[0]]] for place in frame.network] if addresses else []
    limits = {name: getattr(frame.limits, name) for name in frame.limits.__slots__}
    setting = {"network": network, "proxy": bubblewrap.INSIDE_PROXY, "limits": limits, "paths": list(frame.paths)}
    return json.dumps({**setting, "common": list(common)}).encode() + b"\n"


def _walled(frame: Frame, ends: Ends, ours: socket.socket, theirs: int, printing: int) -> Running:
    """Start bubblewrap; where control groups work, put all of it into one before it is given a call.

    The kernel takes its time for that (a grace period of RCU, often 10 ms), in which what is ours loads inside. Where
    it does not say which process has started which, bubblewrap is held meanwhile.
    """
    grouped = groups_work()
    info, informing = ends.pipe()
    blocking, block = ends.pipe() if grouped and not families_shown() else (None, None)
    hosts = ends.holding(_hosts(frame)) if frame.network else None
    given = Given(
        channel=theirs,
        info=informing,
        block=blocking,
        hosts=hosts,
        namespace=namespace_of(os.getpid()),
        calls=ends.holding(filter_here(counted=grouped) or b"") if bubblewrap.filter_works() else None,
    )
    limits = frame.limits
    group = group_make(memory=limits.memory, processes=limits.processes) if grouped else None
    process, way = None, None
    try:
        way = way_make(frame.ways) if frame.network and frame.ways else None
        command = bubblewrap.command_of(frame, given, str(way or ""))
        process = _spawn([mark(), *command[1:]], given.all(), printing, program=command[0])
        ends.close(informing)
        first = _first_of(info)
        watched = os.pidfd_open(first)
        if group:
            group.take(first)
        if block is not None:
            os.write(block, b".")
    except BaseException:
        if process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # it is what waits in the kernel that is not gone at once
                process.wait(GONE)
        if way:
            way_remove(way)
        if group:
            group.remove()
        raise
    return Running(process=process, first=first, channel=ours, printed=-1, group=group, watched=watched, way=way)


def _bare(frame: Frame, ends: Ends, ours: socket.socket, theirs: int, printing: int) -> Running:
    """Start a plain process, where nothing better exists: said on the tool's page."""
    command = [bubblewrap.python_path(), *bubblewrap.PYTHON_FLAGS, str(bubblewrap.CHILD), str(theirs)]
    process = _spawn([*command, str(os.getpid())], [theirs], printing)
    return Running(process=process, first=process.pid, channel=ours, printed=-1)


def _spawn(
    command: list[str], passed: list[int], printing: int, *, program: str | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        executable=program,
        stdin=subprocess.DEVNULL,
        stdout=printing,
        stderr=printing,
        pass_fds=passed,
        env=bubblewrap.ENVIRONMENT,
        cwd="/",
        process_group=0,  # a Ctrl-C at the worker is the worker's to handle
    )


def _first_of(info: int) -> int:
    """Return the first process inside, as this namespace numbers it."""
    text, until = b"", time.monotonic() + START
    while readable(info, until - time.monotonic()):
        piece = os.read(info, 4096)
        if not piece:
            raise OSError("bubblewrap could not make its namespaces")
        text += piece
        with suppress(ValueError):
            return int(json.loads(text)["child-pid"])
    raise OSError(f"bubblewrap has not made its namespaces within {START:.0f} seconds")


def _hosts(frame: Frame) -> str:
    return "".join(f"{address} {host}\n" for host, address in doors(frame.network).items())
