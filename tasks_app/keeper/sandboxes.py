"""The sandboxes of a keeper's worker: ended at their deadlines even while the worker itself is stopped (L04)."""

import selectors

from tasks_app.keeper.process import WatchedProcess


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
        for process, until in list(self._until.values()):
            if now >= until:
                process.kill()

    def _forget(self, pid: int) -> None:
        process, _ = self._until.pop(pid, (None, 0.0))
        if process is not None and process.fd is not None:
            self._selector.unregister(process.fd)
            process.close()
