"""The sweeper: finds what is due and what ran out, in Postgres alone, so that no lost message loses work.

Any number may run at once: what they change, they change under a row lock that others pass over, by a condition on
what they saw; what they send twice is harmless. Finders are functions without arguments; the composition root adds
its own (``settings.HANDRAIL_FINDERS``).
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from django.conf import settings
from django.db import Error, connection
from django.utils.module_loading import import_string

from core.clock import database_uptime
from core.database_trouble import database_away, database_trouble
from tasks_app import cluster, finders, workers
from tasks_app.finders import DueTasks
from tasks_app.services.credentials import grants_expire, revocations_say

log = structlog.get_logger(__name__)

TICK = 0.25  # seconds between two looks


@dataclass(slots=True)
class Reach:
    """Since when this process has reached the database without a gap. Pure; times are CLOCK_MONOTONIC seconds.

    ``gap``: seconds without an answer that count as one. Half a lease: an outage that fits in between cannot have kept
    a keeper, which renews each second and tries again at once, from renewing in time.

    A lease that ran out proves a death only to somebody who has watched it run out: who was cut off, or stopped,
    cannot know whether the keepers were cut off as well.
    """

    gap: float
    since: float | None = None
    last: float = 0.0

    def touch(self, now: float) -> None:
        """The database answered."""
        if self.since is None or now - self.last > self.gap:
            self.since = now
        self.last = now

    def broken(self) -> None:
        """The database did not answer."""
        self.since = None

    def whole(self, seconds: float) -> bool:
        """Whether there was no gap for that long, up to the last answer."""
        return self.since is not None and self.last - self.since >= seconds


@dataclass(slots=True)
class Finder:
    """What to look for, and how often (seconds); 0: at each look."""

    find: Callable[[], object]
    every: float = 0.0
    due: float = 0.0


class Looks:
    """Looks at Postgres, again and again, on the connection of one thread: its reach, and when each finder is due."""

    def __init__(self) -> None:
        self.reach = Reach(gap=settings.LEASE_SECONDS / 2)
        self._finders: list[Finder] = []
        self._met: object = None  # the connection whose server has been compared with the stored identity

    def run(self) -> None:
        """Sweep until the process is ended (any moment will do)."""
        while True:
            self.sweep()
            time.sleep(TICK)

    def sweep(self) -> None:
        """Look once. A database that is away is met again at the next look; one finder's error stops no other."""
        try:
            self._contact()
        except Error as error:
            self._away(error)
            return
        for finder in self._finders:
            if time.monotonic() >= finder.due:
                finder.due = time.monotonic() + finder.every
                self._look(finder)

    def _contact(self) -> None:
        connection.ensure_connection()
        # Whoever has noticed that a connection broke, a finder or we: a new one may lead to another server (C03).
        if connection.connection is not self._met:
            cluster.cluster_check()
            self._met = connection.connection
        self._uptime = database_uptime().total_seconds()
        self.reach.touch(time.monotonic())

    def _look(self, finder: Finder) -> None:
        try:
            finder.find()
        except Exception as error:
            if database_away(error):
                self._away(error)
            else:  # its own, also where a statement was wrong: what else is looked for is none the worse
                log.exception("finder_failed", finder=getattr(finder.find, "__qualname__", repr(finder.find)))

    def _away(self, error: Exception) -> None:
        if self.reach.since is not None or self._met is not None:
            log.warning("sweeper_database_away", reason=database_trouble(error) or type(error).__name__)
        self._met = None
        self.reach.broken()
        connection.close()


class LeaseWatch(Looks):
    """Takes over by time."""

    def __init__(self) -> None:
        super().__init__()
        self._finders = [Finder(self._ran_out)]

    def _ran_out(self) -> None:
        """Take over by time, only if we have watched for a whole lease a server that ran for a whole lease."""
        lease = settings.LEASE_SECONDS
        if self.reach.whole(lease) and self._uptime > lease:
            finders.leases_ran_out()


class Sweeper(Looks):
    """Everything that a sweeper finds, but for the leases that ran out: these are looked at beside, by ``leases``.

    Rejected: one look for all. Where it took longer than half a lease (hundreds of tasks due, a drill's evidence to be
    judged, a machine at its end) no reach was ever whole, and what a dead host held was not taken over while that went
    on: seen in a drill, for a minute.
    """

    def __init__(self, extra: Sequence[str] | None = None) -> None:
        super().__init__()
        more = settings.HANDRAIL_FINDERS if extra is None else extra
        self.leases = LeaseWatch()
        self._finders = [
            Finder(DueTasks()),
            Finder(finders.parents_wake, every=1.0),
            Finder(workers.workers_forget, every=3600.0),
            Finder(grants_expire, every=1.0),
            Finder(revocations_say, every=60.0),
            Finder(cluster.cluster_reconcile_if_needed, every=1.0),
            *(Finder(import_string(path), every=1.0) for path in more),
        ]

    def run(self) -> None:
        """Sweep until the process is ended. Raises RuntimeError if the watch over leases ends."""
        beside = threading.Thread(target=self.leases.run, name="leases", daemon=True)
        beside.start()
        while beside.is_alive():
            self.sweep()
            time.sleep(TICK)
        raise RuntimeError("The watch over leases has ended (see above); another sweeper must take its place.")
