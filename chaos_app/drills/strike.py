"""Doing things to the process that waits at a place, and proving that they were done (H1)."""

import os
import re
import signal
import time
from dataclasses import dataclass

from chaos_app.drills.barrier import Hold
from chaos_app.drills.evidence import Mark
from chaos_app.drills.ground import Ground, Worker
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.names import Proof, Stage
from chaos_app.injector.killing import NotOursError, Victim, keeper_killed, kill
from chaos_app.injector.report import Report
from core.boundaries import Position
from tasks_app.keeper.process import stopped

TOLD_WITHIN = 6.0  # seconds for a parent to say how its child has ended
FIRED_WITHIN = 20.0  # seconds for a commit to come to the door
FATES = {Position.COMMIT_KEPT: "kept", Position.COMMIT_DROPPED: "dropped"}


class NotLandedError(Exception):
    """The fault was done, and what it should do did not happen (or it could not be done)."""


@dataclass(frozen=True, kw_only=True)
class Victims:
    """Who stands where: the report of the process at the place, and the order that it carries out if it is a person."""

    report: Report
    order: Ticket | None = None


def at_commit(ground: Ground, hold: Hold, position: Position) -> str:
    """Let the held process commit, and keep it where it waits for an answer that never comes; what the door saw."""
    fate = FATES[position]
    plan = ground.door.order("arm", pid=hold.where.pid, fate=fate)
    if plan.wait("armed", seconds=FIRED_WITHIN) is None:
        raise NotLandedError("The door before the database did not answer.")
    hold.go.set()
    if plan.wait("fired", seconds=FIRED_WITHIN) is None:
        raise NotLandedError(f"No commit came to the door: the one to be {fate} was never made.")
    return plan.name


def killed(ground: Ground, victims: Victims, victim: Victim = Victim.CHILD) -> Mark:
    """SIGKILL, and the word of the parent on it. Raises NotLandedError."""
    pid = victims.report.pid
    at = time.time()
    try:
        dead = kill(pid, victim)
    except (NotOursError, OSError) as error:
        raise NotLandedError(f"{type(error).__name__}: {error}") from error
    if pid not in dead:
        raise NotLandedError(f"Process {pid} did not end.")
    landed = time.time()
    said = exit_status(ground, victims) if victim == Victim.CHILD else whole_status(ground, victims.report)
    return Mark(
        stage=Stage.LANDED,
        at=landed,
        what=f"process {pid} was ended {(landed - at) * 1000:.0f} ms after SIGKILL",
        pid=pid,
        epoch=victims.report.epoch,
        exit_status=said or None,
        proof=Proof.EXIT_STATUS if said else Proof.PROCESS_GONE,
    )


def keeper_dead(pid: int) -> int:
    """Kill the keeper of a process's worker; return which it was. Raises NotLandedError."""
    try:
        return keeper_killed(pid)
    except (NotOursError, OSError) as error:
        raise NotLandedError(f"{type(error).__name__}: {error}") from error


def exit_status(ground: Ground, victims: Victims) -> str:
    """Return how a process has ended, in words, as its parent says."""
    until = time.monotonic() + TOLD_WITHIN
    if victims.order is not None:
        ended = victims.order.wait("ended", seconds=TOLD_WITHIN)
        return in_words(ended["status"]) if ended else ""
    worker = worker_of(ground, victims.report)
    while worker is not None and time.monotonic() < until:
        said = worker.exit_of(victims.report.pid)
        if said:
            return in_words(said)
        time.sleep(0.05)
    return ""


def whole_status(ground: Ground, report: Report) -> str:
    """Return how a whole worker has ended: this controller is its parent."""
    worker = worker_of(ground, report)
    if worker is None:
        return ""
    try:
        code = worker.process.wait(TOLD_WITHIN)
    except Exception:  # still there
        return ""
    return in_words(f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}")


def in_words(status: str) -> str:
    """Write a parent's word as people read it."""
    name = re.search(r"SIG[A-Z]+", status)
    if name:
        return f"killed by {name[0]}"
    code = re.search(r"\d+", status)
    return f"exit {code[0]}" if code else status


def worker_of(ground: Ground, report: Report) -> Worker | None:
    """Return the worker whose process reported."""
    found = [worker for worker in ground.workers if worker.process.pid in {report.parent, report.pid}]
    return found[0] if found else None


def stop(pid: int) -> float:
    """SIGSTOP; return the time at which the process was seen stopped. Raises NotLandedError."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + 3
    while not stopped(pid):
        if time.monotonic() > until:
            raise NotLandedError(f"Process {pid} does not stop.")
        time.sleep(0.005)
    return time.time()


def go_on(pid: int) -> None:
    """SIGCONT."""
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return
