"""A drill leaves nothing behind, however it ends, and starts nowhere where it must not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chaos_app.drills import place
from tests.drills.test_run import drill, drill_environment
from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.timeout(300)


def of_run(folder: Path) -> list[int]:
    """Return the living processes whose environment names the run's folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            named = os.fsencode(f"HANDRAIL_VAR={folder}") in (entry / "environ").read_bytes()
        except OSError:
            continue
        found += [int(entry.name)] if named else []
    return found


def test_nothing_outlives_a_controller_that_was_killed_and_the_next_run_removes_its_files_and_says_so(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    one = ("run", "--no-control", "--cell", "L03.after.keyed.kill")
    command, environment = [sys.executable, "manage.py", "drill", *one], drill_environment(tmp_path / "var")
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=output, stderr=output)
    wait_for(lambda: "each workload runs once" in log.read_text(), seconds=200, what="the drill to stand")
    drills = tmp_path / "var" / "drills"
    (folder,) = drills.iterdir()
    assert len(of_run(folder)) > 5
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: not of_run(folder), seconds=30, what="everything of the drill to end")
    assert (folder / "postgres").exists()
    following = drill(tmp_path / "var", *one)
    assert following.returncode == 0, following.stdout + following.stderr
    sentence = f"An earlier drill ({folder.name}) ended before it could clean up; what it had left was removed."
    assert following.stdout.splitlines()[0] == sentence
    assert not (folder / "postgres").exists()
    assert place.clean(drills) == []


def test_a_forbidden_environment_starts_no_drill(tmp_path: Path) -> None:
    done = drill(tmp_path / "var", "run", HANDRAIL_ENVIRONMENT="production")
    assert done.returncode == 3
    assert "refused in the environment 'production'" in done.stdout
    assert not (tmp_path / "var" / "drills").exists()


def test_more_kills_than_allowed_are_refused(tmp_path: Path) -> None:
    done = drill(tmp_path / "var", "run", "--suite", "soak", "--kills", "5", HANDRAIL_DRILL_CASES="4")
    assert done.returncode == 3
    assert "HANDRAIL_DRILL_CASES" in done.stdout
