"""Who is there to take over."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chaos_app.drills.ground import Ground, Worker


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """Return a process that lives until the test is over."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_worker_with_planted_bugs_is_none_of_the_two_that_must_be_there(
    process: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    logs = [tmp_path / name for name in ("worker-1", "bugs-1", "worker-2.2")]
    for log, said in zip(logs, (" ready.", " ready.", "starting"), strict=True):
        log.write_text(said)
    ground = object.__new__(Ground)
    ground.workers = [Worker(log.name, process, log, has_bugs=log.name == "bugs-1") for log in logs]
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ground.crew)
        with pytest.raises(TimeoutError):
            waits.result(0.5)
        logs[2].write_text(" ready.")
        waits.result(10)
