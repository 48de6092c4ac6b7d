"""Whole workers die one after the other, each while another one lives: that is what a takeover needs to be measured.

A worker's death is let loose by something that people do, the start of a task or an approval. Its turn comes when both
workers are up and no other such death is still to land. New work is given while both are up, and no sooner.
"""

import os
from collections.abc import Callable, Sequence

from django.db import close_old_connections

from chaos_app.demo.deaths import Death
from chaos_app.injector.killing import Victim
from chaos_app.injector.plan import Plan, Stage
from tasks_app.sweeper_row import POOL
from tasks_app.workers import workers_alive

WORKERS = 2


class Turns:
    """Says of each start and each approval whether its turn has come. ``up``: how many workers live."""

    def __init__(self, plans: Sequence[tuple[Death, Plan]], up: Callable[[], int]) -> None:
        self._plans = [(death, plan) for death, plan in plans if death.victim != Victim.CHILD]
        self._up = up
        self._loose: Plan | None = None

    def come(self, incident: str, trigger: str) -> bool:
        """Whether this may be done now: ``trigger`` is "start", or the name of the call that is approved."""
        mine = [p for d, p in self._plans if (d.incident, d.trigger) == (incident, trigger) and p.stage == Stage.ARMED]
        if not mine or mine[0] is self._loose:
            return trigger != "start" or self._up() >= WORKERS
        waits = self._loose is not None and self._loose.stage in {Stage.ARMED, Stage.REACHED}
        if waits or self._up() < WORKERS:
            return False
        self._loose = mine[0]
        return True


def workers_up() -> int:
    """Count the workers of this demo that are registered, fresh, and alive: children of this process."""
    close_old_connections()
    return sum(_lives(pid) for pid in workers_alive().exclude(pool=POOL).values_list("pid", flat=True))


def _lives(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
