"""What the benchmarks share: a workspace, tasks, workers and sweepers as processes, percentiles."""

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def spread(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """Return count, median and 95th percentile (the values' own unit)."""
    return {
        "n": len(values),
        "p50": round(percentile(values, 0.5), digits),
        "p95": round(percentile(values, 0.95), digits),
    }


def task_new(agent: str, **intent: Any) -> Any:
    """Create a task for one of the benchmark's agents."""
    from django.contrib.auth.models import User

    from core.models import Membership, Workspace
    from tasks_app.services.create import task_create

    workspace, _ = Workspace.objects.get_or_create(slug="bench", name="Bench")
    owner, _ = User.objects.get_or_create(username="bench")
    Membership.objects.get_or_create(user=owner, workspace=workspace, role="operator")
    return task_create(workspace=workspace, owner=owner, actor="person:bench", agent=agent, intent=intent)


def approver() -> Any:
    """Return somebody who may decide, as the caller of a service."""
    from django.contrib.auth.models import User

    from core.access import Role
    from core.models import Membership, Workspace
    from core.principal import Principal

    workspace, _ = Workspace.objects.get_or_create(slug="bench", name="Bench")
    user, _ = User.objects.get_or_create(username="approver")
    Membership.objects.get_or_create(user=user, workspace=workspace, role="approver")
    return Principal(user=user, workspace=workspace, roles=frozenset({Role.APPROVER}))


@contextmanager
def slices_here() -> Iterator[Callable[[Any], None]]:
    """Give a function that runs a task to its end in this process, where nobody renews: its leases are long."""
    from django.conf import settings

    from tasks_app.testing import slice_here, worker_here

    worker, lease = worker_here(), settings.LEASE_SECONDS

    def run(task: Any) -> None:
        while slice_here(task, worker):
            pass

    settings.LEASE_SECONDS = 3600.0
    try:
        yield run
    finally:
        settings.LEASE_SECONDS = lease


def wait_until[T](look: Callable[[], T], *, seconds: float = 60) -> T:
    """Call ``look`` until it returns something true; raise after ``seconds``."""
    until = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > until:
            raise TimeoutError(f"{getattr(look, '__name__', 'the condition')} did not hold within {seconds} s")
        time.sleep(0.005)
    return found


@contextmanager
def processes(folder: Path, *, workers: int = 1, concurrency: int = 2, pool: str = "prefork") -> Iterator[list[Any]]:
    """Run workers (each with its keeper) and a sweeper; yields the workers' process handles."""
    with ExitStack() as stack:
        running = [_worker(stack, folder, nth, concurrency, pool) for nth in range(workers)]
        sweeper_start(stack, folder)
        yield running


def sweeper_start(stack: ExitStack, folder: Path) -> Any:
    """Start a sweeper."""
    return _start(stack, folder / "sweeper.log", "manage.py", "sweep")


def worker_start(stack: ExitStack, folder: Path, name: str, *, concurrency: int = 2, pool: str = "prefork") -> Any:
    """Start one more worker and wait until it takes work."""
    log = folder / f"{name}.log"
    process = _start(
        stack,
        log,
        "-m",
        "celery",
        "-A",
        "core",
        "worker",
        "-n",
        f"{name}@%h",
        "--pool",
        pool,
        "-l",
        "INFO",
        "--concurrency",
        str(concurrency),
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    )
    wait_until(lambda: " ready." in log.read_text())
    return process


def _worker(stack: ExitStack, folder: Path, nth: int, concurrency: int, pool: str) -> Any:
    name = f"bench-{os.getpid()}-{time.monotonic_ns()}-{nth}"
    return worker_start(stack, folder, name, concurrency=concurrency, pool=pool)


def _start(stack: ExitStack, log: Path, *command: str) -> Any:
    out = stack.enter_context(log.open("ab"))
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    stack.callback(_end, process)
    return process


def _end(process: Any) -> None:
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def session(user: Any) -> tuple[str, str]:
    """Sign somebody in; return the cookie's name and value."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    return settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def web_process(folder: Path) -> Iterator[tuple[int, int]]:
    """Run one web process as the process table does; yields its port and its pid."""
    from core import port

    number = port.free(0)
    command = [sys.executable, "-m", "uvicorn", "core.asgi:application", "--host", "127.0.0.1", "--port", str(number)]
    command += ["--no-access-log", "--lifespan", "off", "--ws-per-message-deflate", "false"]
    environment = os.environ | {"PUBLIC_URL": f"http://localhost:{number}"}
    told = folder / f"web-{number}.log"
    with told.open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)
    try:
        wait_until(lambda: "running on" in told.read_text())
        yield number, process.pid
    finally:
        process.terminate()
        process.wait(60)
