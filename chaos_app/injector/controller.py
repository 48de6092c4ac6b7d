"""The controller: spawned processes ask it at each crossing; it lets them pass, or kills the one that has arrived.

It runs in the process that spawned them, and kills nothing else (``killing.kill`` checks).
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from chaos_app.injector.answering import reports_answer
from chaos_app.injector.killing import NotOursError, Victim, gone, kill
from chaos_app.injector.plan import Plan, Stage
from chaos_app.injector.report import Report
from core.boundaries import Boundary

HELD_AT_MOST = 30.0  # seconds that a delivery waits while plans are armed


class Controller:
    """Plans, and a socket that answers reports. ``told`` is called for each plan that has landed or failed."""

    def __init__(self, path: Path, *, told: Callable[[Plan], None] = lambda plan: None) -> None:
        self.path = path
        self.plans: list[Plan] = []
        self.waiting = 0  # deliveries that were held
        self._told = told
        self._lock = threading.Lock()
        self._killing = threading.Lock()
        self._killed: dict[int, float] = {}  # processes that died by us, and when
        self._last: dict[UUID, Report] = {}
        self._passing = threading.Event()
        self._passing.set()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        reports_answer(self._server, self.take, name="controller")

    def arm(self, plan: Plan) -> None:
        """Add a plan; while deliveries are ``held``, so that no task passes its place unseen."""
        with self._lock:
            self.plans.append(plan)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold every delivery of a task, before anything is done about it, while its plans are made."""
        self._passing.clear()
        try:
            yield
        finally:
            self._passing.set()

    def where(self, task: UUID) -> Report | None:
        """Return the last crossing under the task's newest lease: the process that is running it, if it is being run.

        A second delivery, a wake-up or a decision cross boundaries of the task as well, without a lease: not they.
        """
        return self._last.get(task)

    def strike(self, plan: Plan, report: Report) -> None:
        """Kill the process that waits at a plan's place, and note whether it is proven dead."""
        plan.stage = Stage.REACHED
        with self._killing:
            try:
                at = self._kill(report, plan.victim)
            except (NotOursError, OSError) as error:
                plan.stage, plan.why = Stage.FAILED, f"{type(error).__name__}: {error}"
            else:
                plan.killed_at, plan.stage = at, Stage.LANDED
        self._told(plan)

    def _kill(self, report: Report, victim: Victim) -> float:
        """Return when the process was killed: now, or a moment ago, with its worker, for another plan."""
        earlier = self._killed.get(report.pid) or self._killed.get(report.parent)
        # With its worker killed it is dying, whether the kernel has come to it yet or not.
        if gone(report.pid, wait=earlier is not None):
            if earlier is None:
                raise ProcessLookupError(f"process {report.pid} died by itself")
            return earlier
        at = time.time()
        dead = kill(report.pid, victim)
        if report.pid not in dead:
            raise ProcessLookupError(f"process {report.pid} did not end")
        self._killed |= dict.fromkeys(dead, at)
        return at

    def take(self, report: Report) -> None:
        """Return when the process that reports may go on (or is dead)."""
        if report.boundary == Boundary.DELIVERED and not self._passing.is_set():
            self.waiting += 1
            self._passing.wait(HELD_AT_MOST)
        with self._lock:
            self._remember(report)
            due = [plan for plan in self.plans if plan.due(report)]
        for plan in due:
            self.strike(plan, report)

    def _remember(self, report: Report) -> None:
        if report.task is None or report.epoch is None:
            return
        known = self._last.get(report.task)
        if known is None or known.epoch is None or report.epoch >= known.epoch:
            self._last[report.task] = report

    def close(self) -> None:
        """Stop answering; whoever asks from now on passes."""
        self._passing.set()
        self._server.close()
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
