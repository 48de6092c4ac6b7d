"""The sandboxes of a keeper's worker: ended at their deadlines even while the worker itself is stopped (L04)."""

import math
import selectors

import structlog

from tasks_app.keeper.process import WatchedProcess

log = structlog.get_logger(__name__)


class Sandboxes:
    """The first process of each sandbox that runs, with its deadline (CLOCK_MONOTONIC seconds)."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._until: dict[int, tuple[WatchedProcess, float]] = {}

    def watch(self, pid: int, until: float) -> None:
        """Watch one until it has gone. Without pidfds nothing is watched: a number may come to mean another."""
        process = WatchedProcess(pid)
        if process.fd is None:
            return
        self._forget(pid)
        self._until[pid] = (process, until)
        self._selector.register(process.fd, selectors.EVENT_READ, lambda: self._forget(pid))

    def end_overdue(self, now: float) -> None:
        """Kill what has outlived its deadline; its end is seen by its pidfd."""
        for pid, (process, until) in list(self._until.items()):
            if now >= until:
                process.kill()
                self._until[pid] = (process, math.inf)
                log.warning("sandbox_killed_at_deadline", pid=pid)

    def _forget(self, pid: int) -> None:
        process, _ = self._until.pop(pid, (None, 0.0))
        if process is not None and process.fd is not None:
            self._selector.unregister(process.fd)
            process.close()
