"""All of a sandbox is in its control group before it is given a call, though it has begun to load by then."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks_app.sandbox.cgroups import Group, group_make, groups_work
from tasks_app.sandbox.levels import level_here
from tasks_app.sandbox.starting import sandbox_start
from tasks_app.sandbox.used import family
from tests.integration.sandbox.test_stock import spec
from tests.processes import wait_for

MIB = 1024 * 1024
HOLDS = f"held = b'x' * {50 * MIB}; print('held', flush=True); input()"
STARTS = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


@pytest.fixture(autouse=True)
def _groups() -> None:
    if not groups_work():
        pytest.skip("No control groups here.")


@pytest.fixture
def group() -> Iterator[Group]:
    made = group_make(memory=200 * MIB, processes=16)
    yield made
    wait_for(lambda: not any(map(members, made.folders)), seconds=10, what="it to be empty")
    made.remove()


@pytest.fixture
def pair() -> Iterator[subprocess.Popen[bytes]]:
    """A process, and one below it that holds 50 MiB and waits."""
    command = [sys.executable, "-c", STARTS, HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.communicate(b"\n", timeout=10)


def members(folder: Path) -> set[int]:
    return set(map(int, (folder / "cgroup.procs").read_text().split()))


def test_every_process_of_a_sandbox_that_waits_is_in_its_group():
    running = sandbox_start(spec().frame, level_here().name)
    try:
        assert running.group is not None
        wait_for(lambda: len(family(running.first)) == 2, what="bubblewrap's own and the interpreter")
        for folder in running.group.folders:
            assert members(folder) == set(family(running.first))
    finally:
        running.kill()
        running.process.wait(10)
        running.remove()


def test_what_was_started_before_is_taken_in_as_well(group: Group, pair: subprocess.Popen[bytes]):
    both = set(family(pair.pid))
    assert len(both) == 2
    group.take(pair.pid)
    assert [members(folder) for folder in group.folders] == [both] * len(group.folders)


def test_what_they_held_before_is_no_more_to_be_had_and_is_said(group: Group, pair: subprocess.Popen[bytes]):
    group.take(pair.pid)
    assert 50 * MIB < group.before < 90 * MIB
    left = {read(folder / name) for folder in group.folders for name in ("memory.max", "memory.limit_in_bytes")}
    page = 4096
    assert (group.most - group.before) // page * page in left
    assert group.memory() >= group.before


def read(path: Path) -> int | None:
    return int(path.read_text()) if path.exists() else None


def test_a_process_that_has_gone_is_none_to_be_taken(group: Group):
    with subprocess.Popen(["/bin/true"]) as gone:
        gone.wait(10)
    began = time.monotonic()
    with pytest.raises(ProcessLookupError):
        group.take(gone.pid)
    assert time.monotonic() - began < 5
