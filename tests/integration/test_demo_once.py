"""``manage.py demo --once`` as people run it: workers die, every effect is there once, nothing is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chaos_app.demo.table import WALLS
from tasks_app.sandbox.levels import NONE, level_here
from tests.processes import ROOT, running, wait_for
from tests.stacks import environment

ONCE = ("manage.py", "demo", "--once")


def of_the_run(var: Path) -> list[str]:
    """The processes that were started by a run in this folder, by their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HANDRAIL_VAR={var}/demo-once/run-".encode() in path.read_bytes():
                found.append((path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.timeout(900)
def test_workers_are_killed_at_planned_places_and_every_effect_is_there_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *ONCE], env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=850
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "All 10 tasks completed by their criteria, 34 of 34 effects once." in done.stdout
    assert "17 of 17 planned kills landed, at 12 boundaries" in done.stdout
    assert f"each from {WALLS[level_here().name]}." in done.stdout
    assert WALLS[NONE] not in done.stdout
    assert of_the_run(tmp_path) == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_in_the_middle_says_so_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    log = tmp_path / "said"
    with running(*ONCE, env=environment(tmp_path), log=log) as process:
        wait_for(lambda: "rhea starts a task" in log.read_text() or process.poll() is not None, seconds=240)
        process.send_signal(number)
        assert process.wait(60) == 130, log.read_text()
    assert "Stopped before its end" in log.read_text()
    assert of_the_run(tmp_path) == []


@pytest.mark.timeout(300)
def test_a_run_whose_main_process_is_killed_takes_everything_with_it(tmp_path: Path) -> None:
    log = tmp_path / "said"
    with running(*ONCE, env=environment(tmp_path), log=log) as process:
        wait_for(lambda: "rhea starts a task" in log.read_text() or process.poll() is not None, seconds=240)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    wait_for(lambda: of_the_run(tmp_path) == [], seconds=30)
