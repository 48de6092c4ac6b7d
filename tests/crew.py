"""Real Celery workers and sweepers that run the executor over a real outside world; what was started here ends here."""

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any
from uuid import UUID

from tasks_app.models import Call, Event, Task
from tasks_app.services.create import task_create
from tests.people import People
from tests.processes import descendants, running, wait_for

MODULES = "tests.agents,tests.outside_tools,tests.scripts"
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Crew:
    """Starts workers, sweepers and tasks."""

    def __init__(self, stack: ExitStack, environment: Mapping[str, str], folder: Path, people: People) -> None:
        self.stack, self.folder, self.people = stack, folder, people
        self.environment = {**environment, "HANDRAIL_MODULES": MODULES, "HANDRAIL_STALLS": str(folder)}
        self.environment["HANDRAIL_TEST_TIMEOUT"] = "4.0"
        self._number = itertools.count(1)

    def worker(self, name: str = "w", *, concurrency: int = 1, more: tuple[str, ...] = ()) -> Popen[bytes]:
        log = self.folder / f"worker-{name}-{next(self._number)}.log"
        command = ["-m", "celery", "-A", "core", "worker", "-n", f"{name}@%h", "--pool", "prefork", "-l", "INFO"]
        command += ["--concurrency", str(concurrency), *QUIET, *more]
        process = self.stack.enter_context(running(*command, env=self.environment, log=log))
        wait_for(lambda: " ready." in log.read_text(), seconds=180, what=f"worker {name} to be ready")
        return process

    def workers(self, *names: str, more: tuple[str, ...] = ()) -> dict[str, Popen[bytes]]:
        """Start several at once; which of them gets a task is told by ``owner``."""
        with ThreadPoolExecutor(len(names)) as pool:
            return dict(zip(names, pool.map(lambda name: self.worker(name, more=more), names), strict=True))

    def sweeper(self) -> Popen[bytes]:
        log = self.folder / f"sweeper-{next(self._number)}.log"
        return self.stack.enter_context(running("manage.py", "sweep", env=self.environment, log=log))

    def task(self, script: str = "one", *, agent: str = "case.script", **intent: Any) -> Task:
        return task_create(
            workspace=self.people.workspace,
            owner=self.people.rhea,
            actor="person:rhea",
            agent=agent,
            intent={"script": script, **intent},
        )


def kinds(task: UUID) -> list[str]:
    """Return the kinds of a task's events, in order."""
    return list(Event.objects.filter(stream=task).order_by("seq").values_list("kind", flat=True))


def event(task: UUID, kind: str, nth: int = -1) -> Event:
    """Return the nth event of a kind (the last one)."""
    return list(Event.objects.filter(stream=task, kind=kind).order_by("seq"))[nth]


def status(task: Task) -> str:
    return str(Task.objects.values_list("status", flat=True).get(pk=task.pk))


def wait_status(task: Task, *wanted: str, seconds: float = 60) -> str:
    """Wait until the task has one of these statuses."""
    _wait(task, lambda: status(task) in wanted, seconds, " or ".join(wanted))
    return status(task)


def wait_kind(task: Task, kind: str, count: int = 1, seconds: float = 60) -> Event:
    """Wait until the task has so many events of a kind; return the last of them."""
    _wait(task, lambda: kinds(task.pk).count(kind) >= count, seconds, f"{count} x {kind}")
    return event(task.pk, kind)


def _wait(task: Task, look: Callable[[], bool], seconds: float, what: str) -> None:
    try:
        wait_for(look, seconds=seconds, what=what)
    except AssertionError as error:
        raise AssertionError(f"{error}; it is {status(task)}: {kinds(task.pk)}") from error


def slice_pid(task: Task) -> int:
    """Return the process that runs the task's latest slice."""
    return int(event(task.pk, "slice.claimed").data["pid"])


def owner(task: Task, workers: Mapping[str, Popen[bytes]]) -> Popen[bytes]:
    """Return the worker whose process runs the task's latest slice."""
    pid = slice_pid(task)
    return next(worker for worker in workers.values() if pid in descendants(worker.pid))


def call_state(task: Task, name: str = "act") -> str:
    return str(Call.objects.values_list("state", flat=True).get(task=task, name=name))
