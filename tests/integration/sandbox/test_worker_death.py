"""A sandbox ends with its worker, and at its deadline even if the worker is stopped."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from tasks_app.models import Task
from tasks_app.sandbox.orphans import MARK, began, orphans_end
from tests.crew import Crew, slice_pid, wait_kind
from tests.people import people_create
from tests.processes import alive, descendants, pool_processes, running, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
SLACK = 6.0  # seconds that a busy machine adds
TIMEOUT, SEND = 5.0, 2.0  # seconds: the tool's own, and in which an attempt must be sent


@pytest.fixture
def crew(child_environment: dict[str, str], tmp_path: Path) -> Iterator[Crew]:
    with ExitStack() as stack:
        made = Crew(stack, child_environment, tmp_path, people_create())
        made.environment["HANDRAIL_MODULES"] = "tests.agents,tests.sandbox_tools"
        yield made
    orphans_end()  # where a test has failed


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
    wait_for(lambda: not any(map(alive, pids)), seconds=1.0, what="its sandbox to be gone")


def test_a_stopped_worker_keeps_no_sandbox_beyond_the_deadline(crew: Crew):
    _, task, pids = hanging(crew)
    attempted = wait_kind(task, "call.attempted").at
    os.kill(slice_pid(task), signal.SIGSTOP)
    wait_for(lambda: not any(map(alive, pids)), seconds=15, what="its sandbox to be gone")
    late = time.time() - attempted.timestamp() - SEND - TIMEOUT
    assert -0.5 < late < SLACK  # at its deadline
    # For itself, and not because the stopped process was ended a second later and took its sandbox with it.
    wait_for(lambda: "sandbox_killed_at_deadline" in said(crew), what="its keeper to say so")
    assert "process_killed_at_deadline" not in said(crew).partition("sandbox_killed_at_deadline")[0]


def said(crew: Crew) -> str:
    """Return what the workers have logged."""
    return "".join(log.read_text() for log in crew.folder.glob("worker-*.log"))


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


def half_made(crew: Crew, maker: int) -> int:
    """Leave a sandbox in the middle of being made, as by this process; return the one that would wait for ever."""
    name = f"{MARK}:{maker}:{began(maker)}"
    log = crew.folder / "half-made.log"
    with running("-m", "tests.sandbox_half_made", name, env=crew.environment, log=log, stop=signal.SIGKILL):
        wait_for(lambda: len(marked(name)) == 2, what="an outer and an inner process")
        outer, inner = sorted(marked(name), key=parent_of_both(name))
    wait_for(lambda: not alive(outer), what="the outer one to die with whoever started it")
    return inner


def marked(name: str) -> list[int]:
    """Return the processes that were started under a name."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "cmdline").read_bytes().startswith(name.encode() + b"\0"):
                found.append(int(path.name))
    return found


def parent_of_both(name: str) -> Callable[[int], bool]:
    """Sort the outer process before its child."""
    both = marked(name)
    return lambda pid: parent_of(pid) in both


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_sandbox_that_was_being_made_as_its_worker_died_is_gone_a_second_later(crew: Crew):
    worker = crew.worker()
    (maker,) = pool_processes(worker.pid)
    left = half_made(crew, maker)
    orphans_end()
    assert alive(left)  # whoever lives may still be making it
    worker.kill()
    wait_for(lambda: not alive(left), seconds=2.0, what="what waits for ever to be ended")


def test_and_so_is_one_of_a_worker_that_died_together_with_its_keeper(crew: Crew):
    worker = crew.worker()
    (maker,) = pool_processes(worker.pid)
    left = half_made(crew, maker)
    keeper = next(pid for pid in descendants(worker.pid) if b"tasks_app.keeper" in command_line(pid))
    os.kill(keeper, signal.SIGKILL)
    worker.kill()
    wait_for(lambda: not alive(maker), what="the worker's process to be gone")
    assert alive(left)
    crew.worker("next")
    wait_for(lambda: not alive(left), seconds=5.0, what="the next keeper to end it")


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
