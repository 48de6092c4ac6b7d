"""Everything that a drill runs on: servers, the door before Postgres, people, workers, a sweeper, the outside world.

All of it is this drill's own. Each process is tied to this one by the kernel, and ends with it.
"""

import itertools
import json
import os
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from chaos_app.drills.acts import people_create
from chaos_app.drills.barrier import Barrier
from chaos_app.drills.bug_names import ENABLED
from chaos_app.drills.helpers import Control, Helper
from chaos_app.drills.own import Own, target_open
from chaos_app.drills.sweepers import Sweepers
from chaos_app.drills.target import Target
from chaos_app.drills.together import Together
from chaos_app.drills.watch import CASE_OF
from chaos_app.incidents.walls import named
from chaos_app.injector.report import SOCKET
from chaos_app.world.client import World, world_start
from core.embedded import children
from core.embedded.services import Services, embedded

# Processes are killed here, machines are not: what was written, though not synced, outlives a killed server.
QUICK = {"fsync": "off", "full_page_writes": "off"}
PLACES = 64  # services whose configuration can be changed, each by one case at a time
BUGS = "drill_bugs"  # the database of the workers with planted bugs
READY_SECONDS = 120.0


@dataclass(eq=False)
class Worker:
    """One worker of the drill and the log that it writes. ``has_bugs``: planted ones, in a database of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    concurrency: int = 1
    has_bugs: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether it takes work."""
        return " ready." in self.log.read_text(errors="replace")

    def exit_of(self, pid: int) -> str:
        """Return how a child of this worker ended, as the worker itself has said ("" if it has not)."""
        for line in self.log.read_text(errors="replace").splitlines():
            if f"pid:{pid} exited with" in line:
                return line.partition("exited with")[2].strip(" '\"")
        return ""


@dataclass(frozen=True)
class Yard:
    """A second database with messages of its own, for workers in which bugs are planted. ``place``: for orders."""

    url: str
    place: dict[str, str]


@dataclass(eq=False)
class Ground:
    """What stands. ``say`` takes a line for people."""

    folder: Path
    sockets: Path
    say: Callable[[str], None]
    stack: ExitStack
    services: Services = field(init=False)
    world: World = field(init=False)
    barrier: Barrier = field(init=False)
    door: Helper = field(init=False)
    people: Helper = field(init=False)
    workers: list[Worker] = field(default_factory=list)
    places: "queue.SimpleQueue[str]" = field(default_factory=queue.SimpleQueue)
    sweepers: Sweepers = field(init=False)
    bugs: Yard = field(init=False)
    own: Own | None = None

    def __post_init__(self) -> None:
        # Children are tied to the thread that starts them: one thread that lives as long as the drill.
        self.starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        self.control = Control(self.sockets / "control")
        self.together = Together()
        self._fresh = itertools.count(2)

    def begin(self, *, workers: int, concurrency: int, bugs: int = 0, target: Target | None = None) -> None:
        """Start everything and wait until it works. ``bugs``: processes of the worker with planted bugs (0: none)."""
        if target is not None:
            self.own = self.stack.enter_context(target_open(target, self.folder / "target"))
        self.services = self.stack.enter_context(embedded(self.folder, settings=QUICK))
        self.world = self.stack.enter_context(world_start(self.folder / "world", seed=self._seed()))
        with suppress(OSError):  # where we may: the outside keeps its promises also on a busy machine
            os.setpriority(os.PRIO_PROCESS, self.world.pid, -5)
        # They load while the database is made ready; nobody connects to it before.
        self.start("door", "-m", "chaos_app.drills.door", str(self.control.path), *self._doors())
        self.start("people", "-m", "chaos_app.drills.people", str(self.control.path))
        call_command("migrate", interactive=False, verbosity=0)
        people_create()
        self.bugs = self._copy()
        self.barrier = Barrier(self.sockets / "barrier", case_of=self._case_of())
        self.stack.callback(self.barrier.close)
        self.door = self.control.meet("door")
        for number in range(workers):
            self.worker(f"worker-{number + 1}", concurrency)
        if bugs:
            self.worker("bugs-1", bugs, self._bugs_environment())
        self.people = self.control.meet("people", self.barrier.person)
        self.sweepers = Sweepers(self.people)
        self.stack.callback(self.sweepers.close)
        if bugs:
            self.stack.callback(Sweepers(self.people, **self.bugs.place).close)
        self.ready(self.workers)

    def start(self, name: str, *command: str, more: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a process of this drill; its output goes to a log of its name."""
        log = self.folder / "log" / f"{name}.log"

        def work() -> subprocess.Popen[bytes]:
            with log.open("ab") as output:
                whole = [sys.executable, *command]
                environment = self.environment() | dict(more or {})
                return children.start(whole, env=environment, cwd=settings.BASE_DIR, output=output)

        process = self.starter.submit(work).result()
        self.stack.callback(children.stop, process, ())
        return process

    def worker(self, name: str, concurrency: int, more: Mapping[str, str] | None = None) -> Worker:
        """Start a worker (``ready`` waits for it)."""
        command = ["-m", "celery", "-A", "core", "worker", "-n", f"{name}@drill", "--pool", "prefork", "-l", "INFO"]
        command += ["--concurrency", str(concurrency), "--without-gossip", "--without-mingle", "--without-heartbeat"]
        process, log = self.start(name, *command, more=more), self.folder / "log" / f"{name}.log"
        worker = Worker(name, process, log, concurrency, has_bugs=more is not None)
        self.workers.append(worker)
        return worker

    def replace(self, worker: Worker) -> Worker:
        """Start another in the place of one that has ended (``crew`` waits for it)."""
        fresh = f"{worker.name.partition('.')[0]}.{next(self._fresh)}"
        return self.worker(fresh, worker.concurrency)

    def crew(self) -> None:
        """Wait until two workers take work: one is about to be ended. Raises TimeoutError."""
        living = [worker for worker in self.workers if worker.process.poll() is None and not worker.has_bugs]
        self.ready(sorted(living, key=lambda worker: not worker.is_ready)[:2])

    def ready(self, workers: list[Worker]) -> None:
        """Wait until workers take work. Raises TimeoutError with their last words."""
        until = time.monotonic() + READY_SECONDS
        for worker in workers:
            while not worker.is_ready:
                if worker.process.poll() is not None or time.monotonic() > until:
                    raise TimeoutError(f"{worker.name} did not start: {worker.log.read_text()[-2000:]}")
                time.sleep(0.05)

    def environment(self) -> dict[str, str]:
        """The environment of the processes that are drilled: they reach Postgres through the door."""
        host, port = self.world.smtp
        return os.environ | {
            "DJANGO_SETTINGS_MODULE": "core.settings",
            "DATABASE_URL": f"postgresql://handrail@/handrail?host={self.sockets / 'door'}",
            "REDIS_URL": f"unix://{self.sockets / 'broker'}",
            SOCKET: str(self.sockets / "barrier"),
            "HANDRAIL_WORLD_URL": named(self.world.url),
            "HANDRAIL_WORLD_SMTP": named(f"{host}:{port}"),
            "NO_PROXY": "127.0.0.1,localhost",
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
            **(self.own.environment if self.own else {}),
        }

    def _copy(self) -> Yard:
        """Copy the fresh database (nobody is connected to it yet)."""
        connections.close_all()
        with psycopg.connect(self.services.postgres.superuser_url, autocommit=True) as superuser:
            superuser.execute(f"CREATE DATABASE {BUGS} TEMPLATE handrail OWNER handrail")
        redis = f"{self.services.redis_url}?db=1"
        url = self.services.database_url.replace("/handrail?", f"/{BUGS}?")
        return Yard(url, {"database": BUGS, "redis": redis})

    def _bugs_environment(self) -> dict[str, str]:
        url = self.environment()["DATABASE_URL"].replace("/handrail?", f"/{BUGS}?")
        modules = f"{os.environ['HANDRAIL_MODULES']},chaos_app.drills.bugs"
        more = {"DATABASE_URL": url, "REDIS_URL": self.bugs.place["redis"], "HANDRAIL_MODULES": modules}
        return {**more, ENABLED: "1"}

    def _doors(self) -> tuple[str, ...]:
        broker = self.services.redis_url.removeprefix("unix://")
        return str(self.services.postgres.run), str(self.sockets / "door"), broker, str(self.sockets / "broker")

    def _seed(self) -> Path:
        path = self.folder / "seed.json"
        names = [f"place-{number}" for number in range(PLACES)]
        path.write_text(json.dumps({"services": {name: {"drill": {"mark": "first"}} for name in names}}))
        for name in names:
            self.places.put(name)
        return path

    def _case_of(self) -> Callable[[UUID], str | None]:
        """Return a look at a task's intent over a connection of its own."""

        def look(task: UUID) -> str | None:
            tables = "tasks_app_task t LEFT JOIN tasks_app_task p ON p.id = t.parent_id"
            query = f"SELECT {CASE_OF} FROM {tables} WHERE t.id = %s"  # noqa: S608 - both are ours
            for url in (self.services.database_url, self.bugs.url):
                with psycopg.connect(url, autocommit=True) as connection:
                    row = connection.execute(query, [task]).fetchone()
                if row and row[0]:
                    return str(row[0])
            return None

        return look


@contextmanager
def ground_stand(
    folder: Path,
    *,
    say: Callable[[str], None],
    workers: int,
    concurrency: int,
    bugs: int = 0,
    target: Target | None = None,
) -> Iterator[Ground]:
    """Run a drill's ground until the block ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hd-")))  # short: a socket's path is
        ground = Ground(folder, sockets, say, stack)
        stack.callback(ground.control.close)
        try:
            ground.begin(workers=workers, concurrency=concurrency, bugs=bugs, target=target)
            yield ground
        finally:
            connections.close_all()
