"""A sandbox ends with its worker, and at its deadline even if the worker is stopped."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import pytest

from tasks_app.models import Task
from tests.crew import Crew, slice_pid, wait_kind
from tests.people import people_create
from tests.processes import alive, descendants, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
SLACK = 6.0  # seconds that a busy machine adds
TIMEOUT, SEND = 5.0, 2.0  # seconds: the tool's own, and in which an attempt must be sent


@pytest.fixture
def crew(child_environment: dict[str, str], tmp_path: Path) -> Iterator[Crew]:
    with ExitStack() as stack:
        made = Crew(stack, child_environment, tmp_path, people_create())
        made.environment["HANDRAIL_MODULES"] = "tests.agents,tests.sandbox_tools"
        yield made


def inside(worker: Popen[bytes]) -> list[int]:
    """Return the processes of the worker's sandboxes, those that run the tool itself."""
    found = []
    for pid in descendants(worker.pid):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"handrail/child.py" in line:
            found.append(pid)
    return found


def hangs(pid: int) -> bool:
    """Whether the tool's function runs in there: before that, its keeper may not know of it yet."""
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "hanging\n"
    except OSError:
        return False


def hanging(crew: Crew) -> tuple[Popen[bytes], Task, list[int]]:
    worker = crew.worker()
    task = crew.task(agent="box.run", tool="box.keyed", arguments={"what": "hang"})
    crew.sweeper()
    wait_for(lambda: any(map(hangs, inside(worker))), seconds=60, what="a sandbox in which the tool runs")
    wait_kind(task, "call.attempted")
    return worker, task, inside(worker)


def test_no_sandbox_is_alive_a_second_after_a_sigkill_of_the_worker(crew: Crew):
    worker, _, pids = hanging(crew)
    worker.kill()
    began = time.monotonic()
    wait_for(lambda: not any(map(alive, pids)), seconds=1.0, what="its sandbox to be gone")
    assert time.monotonic() - began < 1.0


def test_a_stopped_worker_keeps_no_sandbox_beyond_the_deadline(crew: Crew):
    _, task, pids = hanging(crew)
    attempted = wait_kind(task, "call.attempted").at
    os.kill(slice_pid(task), signal.SIGSTOP)
    wait_for(lambda: not any(map(alive, pids)), seconds=15, what="its sandbox to be gone")
    late = time.time() - attempted.timestamp() - SEND - TIMEOUT
    assert -0.5 < late < SLACK  # at its deadline
    # For itself, and not because the stopped process was ended a second later and took its sandbox with it.
    said = "".join(log.read_text() for log in crew.folder.glob("worker-*.log"))
    assert "sandbox_killed_at_deadline" in said
    assert "process_killed_at_deadline" not in said.partition("sandbox_killed_at_deadline")[0]


def waiting(worker: Popen[bytes]) -> list[int]:
    """Return the sandboxes that wait for a call, once no call runs."""
    return [pid for pid in inside(worker) if not hangs(pid)]


def test_a_sandbox_that_waits_for_a_call_is_gone_a_second_after_its_worker(crew: Crew):
    worker = crew.worker()
    task = crew.task(agent="box.run", tool="box.keyed", arguments={"what": "answer", "word": "x"})
    crew.sweeper()
    wait_kind(task, "call.outcome")
    wait_kind(task, "slice.released")
    # All of it is up when its first process has two below: bubblewrap's own and the interpreter.
    wait_for(lambda: len(waiting(worker)) >= 2, seconds=30, what="a sandbox that waits")
    pids = waiting(worker)
    worker.kill()
    wait_for(lambda: not any(map(alive, pids)), seconds=1.0, what="it to be gone")
