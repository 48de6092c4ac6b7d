"""The sandboxes of a keeper's worker: ended at their deadlines even while the worker itself is stopped (L04)."""

import math
import selectors

import structlog

from tasks_app.keeper.process import WatchedProcess
from tasks_app.sandbox.orphans import orphans_end

log = structlog.get_logger(__name__)

# Seconds after a death in which what was being started then may still appear, and between two looks (each asks for the
# name of every process there is: not at each message that a keeper hears).
ORPHANS, ORPHANS_EVERY = 0.9, 0.2


class Sandboxes:
    """The first process of each sandbox that runs, with its deadline (CLOCK_MONOTONIC seconds)."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._until: dict[int, tuple[WatchedProcess, float]] = {}
        self._orphans_at = self._orphans_until = 0.0

    def orphans_expect(self, now: float) -> None:
        """Look for sandboxes without their makers for a while: one has died, or we begin where another keeper was."""
        self._orphans_until = now + ORPHANS

    def orphans_look(self, now: float) -> None:
        """End the sandboxes whose makers have gone, if any are to be expected."""
        if not self._orphans_at <= now < self._orphans_until:
            return
        self._orphans_at = now + ORPHANS_EVERY
        if ended := orphans_end():
            log.warning("sandboxes_without_maker_ended", count=ended)

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
