"""SIGKILL to processes that we spawned, and the proof that they are gone."""

import os
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from tasks_app.keeper.process import WatchedProcess

PROOF_SECONDS = 5.0


class Victim(StrEnum):
    """What is killed: the process at the boundary, its whole worker, or the worker together with its keeper."""

    CHILD = "child"
    WORKER = "worker"
    WORKER_AND_KEEPER = "worker and keeper"


class NotOursError(Exception):
    """The process belongs to no group that this process started; it is left alone."""


def kill(pid: int, victim: Victim) -> set[int]:
    """Kill; return the processes that are proven gone: ``pid``, and the leader of its group where that was meant.

    Raises NotOursError for a process that we did not start, ProcessLookupError where it has gone already.
    """
    leader = os.getpgid(pid)
    if not _is_our_child(leader):
        raise NotOursError(f"process {pid} of group {leader}")
    targets = {pid} if victim == Victim.CHILD else {pid, leader}
    watched = [WatchedProcess(target) for target in targets]
    try:
        match victim:
            case Victim.CHILD:
                os.kill(pid, signal.SIGKILL)
            case Victim.WORKER:
                os.kill(leader, signal.SIGKILL)  # its children are tied to it by the kernel
            case Victim.WORKER_AND_KEEPER:
                os.killpg(leader, signal.SIGKILL)
        return _gone(watched)
    finally:
        for process in watched:
            process.close()


def keeper_killed(pid: int) -> int:
    """Kill the keeper of the worker that a process belongs to; return which it was. Raises NotOursError."""
    leader = os.getpgid(pid)
    keepers = [one for one in children_of(leader) if b"tasks_app.keeper" in command_of(one)]
    if not _is_our_child(leader) or not keepers:
        raise NotOursError(f"no keeper of process {pid}, group {leader}")
    os.kill(keepers[0], signal.SIGKILL)
    if not gone(keepers[0], wait=True):
        raise NotOursError(f"the keeper {keepers[0]} did not end")
    return keepers[0]


def children_of(pid: int) -> list[int]:
    """Return the children of a process, of each of its threads; none where it has gone."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def command_of(pid: int) -> bytes:
    """Return the command line of a process, its words ended by zero bytes; nothing where it has gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _is_our_child(pid: int) -> bool:
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _gone(watched: Iterable[WatchedProcess]) -> set[int]:
    until = time.monotonic() + PROOF_SECONDS
    return {process.pid for process in watched if _ends(process, until)}


def _ends(process: WatchedProcess, until: float) -> bool:
    if process.fd is not None:
        return bool(select.select([process.fd], [], [], max(until - time.monotonic(), 0.0))[0])
    while not process.gone() and time.monotonic() < until:
        time.sleep(0.01)
    return process.gone()


def gone(pid: int, *, wait: bool = False) -> bool:
    """Whether a process has ended, reaped or not. ``wait``: give one that is dying ``PROOF_SECONDS`` to be gone."""
    with suppress(ProcessLookupError):
        process = WatchedProcess(pid)
        try:
            return process.gone() or _ends(process, time.monotonic() + (PROOF_SECONDS if wait else 0.0))
        finally:
            process.close()
    return True
