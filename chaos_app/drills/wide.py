"""Faults that meet more than one process: a whole worker, a database connection, Postgres, the broker.

They are played after all others, each kind by itself: they reach cases that run beside. A server that is ended meets
all cases that wait for it just then; of those that end a worker the full suite, which has more workers, runs two side
by side, and who was hit by the other one is played again alone.
"""

import os
import signal
import time
from collections.abc import Sequence

import psycopg
import redis

from chaos_app.drills import strike
from chaos_app.drills.barrier import Hold
from chaos_app.drills.evidence import Mark
from chaos_app.drills.kills import VICTIMS, Killed
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError, Victims
from chaos_app.injector.report import Report

SIGNALS = {
    Fault.TERM: (signal.SIGTERM,),
    Fault.TERM_TWICE: (signal.SIGTERM, signal.SIGTERM),
    Fault.QUIT: (signal.SIGQUIT,),
}
ENDS_WITHIN = 40.0  # seconds for a worker that was asked to end
AWAY = 2.0  # seconds that a stopped broker stays away
OF_WORKERS = frozenset({*SIGNALS, Fault.KILL_WORKER, Fault.KILL_BOTH})
OF_SERVERS = frozenset({Fault.DATABASE_RESTART, Fault.BROKER_STOPPED, Fault.BROKER_EMPTIED, Fault.BROKER_RESTART})
# One at a time: engines of their own that reach everybody, or the keeper that other cases of its worker need; and where
# only time proves the death, a second one that hits who took over would double the time.
ALONE = frozenset({Fault.SWEEPER, Fault.TWO_SWEEPERS, Fault.FAILOVER, Fault.KILL_BOTH, Fault.FORSAKEN})
WIDE = OF_WORKERS | OF_SERVERS | ALONE
CREW = 2  # workers that must be there while one is ended: who is killed, and who takes over


def workers_ended(suite: str) -> int:
    """Return how many whole workers may be ended at once; ``CREW`` times as many are started (``session``)."""
    return 2 if suite == "full" else 1


class Wide(Killed):
    """A process waits at the place while something larger is done."""

    def arm(self) -> None:
        """Wait for the place, with a whole crew."""
        if self.plan.fault in OF_WORKERS:
            self.ground.crew()
        super().arm()

    def strike(self) -> None:
        """Do it, prove it, let the process go on if it is still there."""
        if self.outside:
            report = self.in_the_outside()
            try:
                self.kill_outside(report)
            finally:
                self._mend(self.plan.fault, report)
            return
        assert self.hold is not None
        self.wait(self.hold)
        report, fault = self.hold.where, self.plan.fault
        if fault in OF_WORKERS and strike.worker_of(self.ground, report) is None:
            self.hold.go.set()
            raise NotLandedError("The process at this place belongs to a person, not to a worker.")
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid, epoch=report.epoch)
        self.mark(Stage.FIRED, what=str(fault))
        try:
            self.note(self._of_no_lease(self._do(fault, report), report, self.plan.place))
        finally:
            self.hold.go.set()
            self._mend(fault, report)

    def _do(self, fault: Fault, report: Report) -> Mark:
        if fault in OF_SERVERS:
            assert self.hold is not None
            return self.ground.together.meet(self.hold, lambda holds: self._of_server(fault, holds), self.tick)
        if fault == Fault.CONNECTION_CUT:
            return self._cut(report)
        if fault in SIGNALS:
            return self._ask(SIGNALS[fault], report)
        return strike.killed(self.ground, Victims(report=report), VICTIMS[fault])

    def _of_server(self, fault: Fault, holds: Sequence[Hold]) -> Mark:
        """Do it once, while the processes of all these cases wait at their places."""
        if fault == Fault.DATABASE_RESTART:
            return self._restart_database()
        if fault == Fault.BROKER_EMPTIED:
            return self._empty()
        return self._restart_broker(AWAY if fault == Fault.BROKER_STOPPED else 0.0, holds)

    def _ask(self, signals: tuple[signal.Signals, ...], report: Report) -> Mark:
        """Ask the worker to end; the process at the place goes on meanwhile, as far as it may."""
        assert self.hold is not None
        worker = strike.worker_of(self.ground, report)
        assert worker is not None
        for number in signals:
            os.kill(worker.process.pid, number)
            time.sleep(0.3)
        self.hold.go.set()
        until = time.monotonic() + ENDS_WITHIN
        while worker.process.poll() is None:
            self.tick()
            if time.monotonic() > until:
                raise NotLandedError(f"{worker.name} did not end.")
            time.sleep(0.1)
        said = strike.whole_status(self.ground, report)
        what = f"{worker.name} has ended"
        return Mark(stage=Stage.LANDED, at=time.time(), what=what, exit_status=said, proof=Proof.EXIT_STATUS)

    def _cut(self, report: Report) -> Mark:
        said = self.ground.door.order("backends", pid=report.pid).wait("backends", seconds=10)
        backends = said["backends"] if said else []
        if not backends:
            raise NotLandedError("The process has no connection to the database.")
        with psycopg.connect(self.ground.services.postgres.superuser_url, autocommit=True) as superuser:
            for backend in backends:
                superuser.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            left = superuser.execute("SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)", [backends]).fetchall()
        if left:
            raise NotLandedError("The database's process is still there.")
        what = f"process {backends} of the database is gone"
        return Mark(stage=Stage.LANDED, at=time.time(), what=what, proof=Proof.BACKEND_GONE)

    def _restart_database(self) -> Mark:
        before = self._database_start()
        postgres = self.ground.services.postgres
        postgres.kill()
        self.ground.starter.submit(postgres.start).result()
        after = self._database_start()
        if before == after:
            raise NotLandedError("The database did not start anew.")
        what = f"killed; started anew at {after}"
        return Mark(stage=Stage.LANDED, at=time.time(), what=what, proof=Proof.SERVER_RESTARTED)

    def _database_start(self) -> str:
        with psycopg.connect(self.ground.services.postgres.superuser_url) as superuser:
            row = superuser.execute("SELECT pg_postmaster_start_time()").fetchone()
        return str(row[0]) if row else ""

    def _restart_broker(self, away: float, holds: Sequence[Hold]) -> Mark:
        valkey = self.ground.services.valkey
        valkey.kill()
        for hold in holds:
            hold.go.set()  # it goes on without the broker
        self.pause(away)
        self.ground.starter.submit(valkey.start).result()
        what = f"killed; started anew after {away:g} s, empty"
        return Mark(stage=Stage.LANDED, at=time.time(), what=what, proof=Proof.SERVER_RESTARTED)

    def _empty(self) -> Mark:
        client = redis.Redis.from_url(self.ground.services.redis_url)
        try:
            client.flushall()
            left = int(str(client.dbsize()))
        finally:
            client.close()
        if left:
            raise NotLandedError(f"The broker holds {left} keys still.")
        return Mark(stage=Stage.LANDED, at=time.time(), what="it holds no key", proof=Proof.SERVER_RESTARTED)

    def _mend(self, fault: Fault, report: Report) -> None:
        """Replace what has ended, so that the next case finds a whole crew."""
        worker = strike.worker_of(self.ground, report)
        if fault in OF_WORKERS and worker is not None and worker.process.poll() is not None:
            self.ground.replace(worker)
