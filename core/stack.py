"""The whole of Handrail on one machine: embedded services where none are given, migrations, every process."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import redis
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from core import port, procfile
from core.embedded import address, folder
from core.embedded.errors import EmbeddedError
from core.embedded.postgres import Postgres
from core.embedded.valkey import Valkey
from core.metrics import FOLDER
from core.output import Output
from core.program import Program, Service
from core.supervisor import Supervisor


class ServiceAwayError(EmbeddedError):
    """A service that was named by the environment does not answer."""

    def __init__(self, variable: str, reason: str) -> None:
        self.variable, self.reason = variable, reason

    def __str__(self) -> str:
        return (
            f"{self.variable} is set, and what it names does not answer ({self.reason.strip()}); nothing was started. "
            f"Start that service, correct {self.variable}, or unset it to use the embedded one."
        )


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What to run.

    ``extra`` joins the process table (and takes the place of a program of the same name); ``job`` is a program whose
    end ends everything. All see ``environment``; a program's own goes before it. ``when_ready`` gets the address of
    the pages, once, as soon as they answer; ``over`` is asked again and again whether this was all. Both are called on
    the supervisor's thread and must not wait. ``concurrency``: slices at once in each worker; they mostly wait for a
    tool's sandbox, and with one less a takeover waited seconds for a process that was free.
    """

    port: int = 8000
    pool: str = "prefork"
    concurrency: int = 3
    extra: Sequence[Program] = ()
    job: Program | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    when_ready: Callable[[str], None] | None = None
    over: Callable[[], bool] = lambda: False
    output: Output = field(default_factory=Output)


def stack_run(stack: Stack) -> int:
    """Run the stack until Ctrl-C, SIGTERM or the end of its job. Returns the job's exit code, or 0.

    Call it from the main thread. Raises EmbeddedError, before anything is left running, with a sentence that says
    what stands in the way and what to do.
    """
    with folder.claimed(settings.VAR_DIR) as var:
        number = port.free(stack.port)
        with _services(var) as services:
            _migrate(stack.output)
            environment = _environment(stack, number)
            shutil.rmtree(environment[FOLDER], ignore_errors=True)
            programs = [_placed(program, environment) for program in _table(stack, number).values()]
            job = _placed(stack.job, environment) if stack.job else None
            supervisor = Supervisor(services=services, programs=programs, job=job, output=stack.output)
            try:
                return supervisor.run(until_ready=_announcer(stack, number), over=stack.over)
            finally:
                address.pages_file(settings.VAR_DIR).unlink(missing_ok=True)


@contextmanager
def _services(var: Path) -> Iterator[list[Service]]:
    """Start what is not given by the environment, check what is; whatever happens, stop what we started."""
    started: list[Postgres | Valkey] = []
    try:
        if os.environ.get("DATABASE_URL"):
            _check_database()
        else:
            started.append(Postgres(var))
            started[-1].start()
        if os.environ.get("REDIS_URL"):
            _check_redis()
        else:
            started.append(Valkey(var))
            started[-1].start()
        yield list(started)
    finally:
        for service in reversed(started):
            service.stop()


def _check_database() -> None:
    try:
        psycopg.connect(settings.DATABASE_URL, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        raise ServiceAwayError("DATABASE_URL", str(error).splitlines()[0]) from error


def _check_redis() -> None:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=5)
    try:
        client.ping()
    except redis.RedisError as error:
        raise ServiceAwayError("REDIS_URL", str(error)) from error
    finally:
        client.close()


def _migrate(output: Output) -> None:
    output.say("migrate", "bringing the database up to date")
    call_command("migrate", interactive=False, verbosity=0)
    connections.close_all()


def _table(stack: Stack, number: int) -> dict[str, Program]:
    variables = {"HOST": port.HOST, "PORT": str(number), "POOL": stack.pool, "CONCURRENCY": str(stack.concurrency)}
    table = procfile.commands((settings.BASE_DIR / "Procfile").read_text(), variables)
    programs = {name: Program(name=name, command=command) for name, command in table.items()}
    return programs | {program.name: program for program in stack.extra}


def _placed(program: Program, environment: Mapping[str, str]) -> Program:
    folder = program.folder or settings.BASE_DIR
    return replace(program, environment={**environment, **program.environment}, folder=folder)


def _environment(stack: Stack, number: int) -> dict[str, str]:
    """What every process of ours must see, wherever it was started from."""
    return {
        "HANDRAIL_VAR": str(settings.VAR_DIR.resolve()),
        "PUBLIC_URL": os.environ.get("PUBLIC_URL", f"http://localhost:{number}"),
        # What our processes count, for whichever web process is asked; begun afresh with the stack.
        FOLDER: str(settings.VAR_DIR.resolve() / "metrics"),
        "HANDRAIL_STACK": str(os.getpid()),  # whoever is started by one of them, and outlives it, ends with us
        "PYTHONUNBUFFERED": "1",
        # Celery's ten lines about root say nothing to somebody in a container; slices run in sandboxes of their own.
        "PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS", "ignore:You're running the worker with superuser"),
        **stack.environment,
    }


def _announcer(stack: Stack, number: int) -> Callable[[], bool]:
    """Return the look that says once, when the pages answer, where they are."""
    url = os.environ.get("PUBLIC_URL", f"http://localhost:{number}")

    def look() -> bool:
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex((port.HOST, number)) != 0:
                return False
        address.pages_file(settings.VAR_DIR).write_text(url)
        stack.output.say("handrail", f"ready at {url} - Ctrl-C stops it")
        if stack.when_ready is not None:
            stack.when_ready(url)
        return True

    return look
