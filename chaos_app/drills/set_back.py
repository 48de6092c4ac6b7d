"""The database is set back to an older state of itself: its last commits are lost, the outside has not forgotten (C03).

A copy is taken while the call is planned and approved; after the effect the server is killed, and the copy is started
in its place as a restore would be, on a timeline of its own.
"""

import shutil
import time
from pathlib import Path

import psycopg

from chaos_app.drills.barrier import Hold, Point
from chaos_app.drills.evidence import Mark
from chaos_app.drills.kills import Killed
from chaos_app.drills.names import Proof, Stage
from chaos_app.drills.strike import NotLandedError
from core.boundaries import Boundary, Position

PLANNED = Point(boundary=Boundary.ATTEMPT, position=Position.BEFORE, call="act")
SKIPPED = shutil.ignore_patterns("pg_wal", "postmaster.pid", "postmaster.opts", "pgsql_tmp*", "pg_internal.init")
RECOVERY = ["restore_command = 'false'", "recovery_target = 'immediate'", "recovery_target_action = 'promote'"]
RECOVERED_WITHIN = 30.0  # seconds
TIMELINE = "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"


class SetBack(Killed):
    """Copy at the plan, restore after the effect."""

    planned: Hold | None = None

    def arm(self) -> None:
        """Wait for the plan, and for the place."""
        self.planned = self.ground.barrier.arm(self.post, PLANNED)
        super().arm()

    def strike(self) -> None:
        """Copy, let it act, set back, let it go on."""
        assert self.planned is not None
        assert self.hold is not None
        self.wait(self.planned)
        copy = self._copy()
        self.planned.go.set()
        self.wait(self.hold)
        report = self.hold.where
        self.mark(Stage.REACHED, at=self.hold.at, what="a process waits there", pid=report.pid, epoch=report.epoch)
        self.mark(Stage.FIRED, what="the server is killed and an older copy is put in its place")
        try:
            self.note(self._restore(copy))
        finally:
            self.hold.go.set()

    def _copy(self) -> Path:
        """Take a base backup: the files while the server runs, and the log that makes them whole."""
        postgres = self.ground.services.postgres
        copy = postgres.data.with_name(f"postgres.{self.name}")
        with psycopg.connect(postgres.superuser_url, autocommit=True) as superuser:
            superuser.execute("SELECT pg_backup_start('drill', true)")
            shutil.copytree(postgres.data, copy, symlinks=True, ignore=SKIPPED)
            row = superuser.execute("SELECT labelfile FROM pg_backup_stop(false)").fetchone()
        assert row is not None
        (copy / "backup_label").write_text(row[0])
        shutil.copytree(postgres.data / "pg_wal", copy / "pg_wal")
        with (copy / "postgresql.auto.conf").open("a") as settings:
            settings.write("\n".join(["", *RECOVERY, ""]))
        (copy / "recovery.signal").touch()
        return copy

    def _restore(self, copy: Path) -> Mark:
        postgres = self.ground.services.postgres
        before = self._timeline()
        postgres.kill()
        shutil.rmtree(postgres.data)
        copy.rename(postgres.data)
        self.ground.starter.submit(postgres.start).result()
        self._recovered()
        after = self._timeline()
        if before == after:
            raise NotLandedError("The server that was started is on the old timeline.")
        what = f"an older copy runs in its place, on timeline {int(after, 16)} after {int(before, 16)}"
        return Mark(stage=Stage.LANDED, at=self._now(), what=what, proof=Proof.SERVER_RESTARTED)

    def _recovered(self) -> None:
        """Wait until the copy has become a server that may be written to."""
        until = time.monotonic() + RECOVERED_WITHIN
        while True:
            with psycopg.connect(self.ground.services.postgres.superuser_url, autocommit=True) as superuser:
                row = superuser.execute("SELECT pg_is_in_recovery()").fetchone()
            if row == (False,):
                return
            if time.monotonic() > until:
                raise NotLandedError("The copy is still recovering.")
            time.sleep(0.05)

    def _timeline(self) -> str:
        with psycopg.connect(self.ground.services.postgres.superuser_url, autocommit=True) as superuser:
            row = superuser.execute(TIMELINE).fetchone()
        return str(row[0]) if row else ""

    def _now(self) -> float:
        return self.mark(Stage.FIRED, what="the older copy answers").at
