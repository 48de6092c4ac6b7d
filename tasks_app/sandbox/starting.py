"""Starting one sandbox: its descriptors, its first process, its control group."""

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field

from tasks_app.sandbox import bubblewrap, levels
from tasks_app.sandbox.bubblewrap import Given
from tasks_app.sandbox.cgroups import Group, group_make, groups_work
from tasks_app.sandbox.identity import namespace_of
from tasks_app.sandbox.spec import Spec, doors


@dataclass(slots=True, kw_only=True)
class Running:
    """A sandbox at work. ``first``: the process with which all of it ends. ``printed``: what it prints arrives here."""

    process: subprocess.Popen[bytes]
    first: int
    channel: socket.socket
    printed: int
    group: Group | None = None
    watched: int | None = None  # a pidfd of the first process, which means no other even after it has gone

    def kill(self) -> None:
        """End all of it: with its first process the kernel ends every other inside."""
        with suppress(OSError):
            if self.watched is not None:
                signal.pidfd_send_signal(self.watched, signal.SIGKILL)
            else:
                os.killpg(self.process.pid, signal.SIGKILL)  # not waited for yet, so still its own

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
        if self.group:
            self.group.remove()


@dataclass(slots=True)
class _Ends:
    """Descriptors that are closed here once the sandbox has them, or has failed to start."""

    mine: list[int] = field(default_factory=list)

    def pipe(self) -> tuple[int, int]:
        reading, writing = os.pipe()
        self.mine += [reading, writing]
        return reading, writing

    def close(self, descriptor: int) -> None:
        self.mine.remove(descriptor)
        os.close(descriptor)

    def keep(self, descriptor: int) -> int:
        self.mine.remove(descriptor)
        return descriptor

    def holding(self, text: str) -> int:
        """Return a descriptor from which this text can be read once. Raises OSError beyond what a pipe takes."""
        content = text.encode()
        reading, writing = self.pipe()
        os.set_blocking(writing, False)
        if os.write(writing, content) != len(content):
            raise OSError("more secrets than a pipe takes")
        self.close(writing)
        return reading


def sandbox_start(spec: Spec, level: str) -> Running:
    """Start a sandbox that waits for its request. Raises OSError where it does not start."""
    ends = _Ends()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        printed, printing = ends.pipe()
        secrets = ends.holding(json.dumps(dict(spec.secrets))) if spec.secrets else None
        start = _walled if level == levels.NAMESPACES else _bare
        running = start(spec, ends, ours, theirs.fileno(), printing, secrets)
        running.printed = ends.keep(printed)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        for descriptor in ends.mine:
            os.close(descriptor)
    ours.setblocking(False)
    return running


def _walled(spec: Spec, ends: _Ends, ours: socket.socket, theirs: int, printing: int, secrets: int | None) -> Running:
    """Start bubblewrap; where control groups work, hold it until it is in one."""
    grouped = groups_work()
    info, informing = ends.pipe()
    blocking, block = ends.pipe() if grouped else (None, None)
    hosts = ends.holding(_hosts(spec)) if spec.network else None
    given = Given(
        channel=theirs,
        info=informing,
        block=blocking,
        secrets=secrets,
        hosts=hosts,
        namespace=namespace_of(os.getpid()),
    )
    group = group_make(memory=spec.limits.memory, processes=spec.limits.processes) if grouped else None
    process = None
    try:
        process = _spawn(bubblewrap.command_of(spec, given), given.all(), printing)
        ends.close(informing)
        first = _first_of(info)
        watched = os.pidfd_open(first)
        if group and block is not None:
            group.take(first)
            os.write(block, b".")
    except BaseException:
        if process:
            process.kill()
            process.wait()
        if group:
            group.remove()
        raise
    return Running(process=process, first=first, channel=ours, printed=-1, group=group, watched=watched)


def _bare(spec: Spec, ends: _Ends, ours: socket.socket, theirs: int, printing: int, secrets: int | None) -> Running:
    """Start a plain process, where nothing better exists: said on the tool's page."""
    command = [bubblewrap.python_path(), *bubblewrap.PYTHON_FLAGS, str(bubblewrap.CHILD), str(theirs)]
    command += ["-" if secrets is None else str(secrets), str(os.getpid())]
    process = _spawn(command, [theirs] if secrets is None else [theirs, secrets], printing)
    return Running(process=process, first=process.pid, channel=ours, printed=-1)


def _spawn(command: list[str], passed: list[int], printing: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
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
    text = b""
    while piece := os.read(info, 4096):
        text += piece
        with suppress(ValueError):
            return int(json.loads(text)["child-pid"])
    raise OSError("bubblewrap could not make its namespaces")


def _hosts(spec: Spec) -> str:
    return "".join(f"{address} {host}\n" for host, address in doors(spec.network).items())
