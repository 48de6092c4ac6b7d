"""Drills beside each other: neither reaches the other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drills.test_run import drill_environment
from tests.drills.test_safety import of_run
from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.timeout(500)
CELLS = (("L03.after.keyed.kill", "E04.applied.opaque.kill"), ("L03.after.keyed.kill", "E02.before_send.readable.kill"))


def begun(var: Path, log: Path, cells: tuple[str, ...]) -> subprocess.Popen[bytes]:
    chosen = [word for cell in cells for word in ("--cell", cell)]
    command = [sys.executable, "manage.py", "drill", "run", "--no-control", *chosen]
    with log.open("wb") as output:
        return subprocess.Popen(command, env=drill_environment(var), cwd=ROOT, stdout=output, stderr=output)


def test_two_people_run_drills_at_once_in_one_folder_and_neither_touches_the_other(tmp_path: Path) -> None:
    var, logs = tmp_path / "var", [tmp_path / "one.log", tmp_path / "two.log"]
    both = [begun(var, log, cells) for log, cells in zip(logs, CELLS, strict=True)]
    try:
        assert [process.wait(400) for process in both] == [0, 0], "\n".join(log.read_text() for log in logs)
    finally:
        for process in both:
            process.kill()
            process.wait()
    assert "ended before it could clean up" not in "".join(log.read_text() for log in logs)
    folders = sorted((var / "drills").iterdir())
    assert len(folders) == 2
    found = [[json.loads(file.read_text()) for file in (folder / "evidence").iterdir()] for folder in folders]
    assert {frozenset(one["cell"]["id"] for one in run) for run in found} == {frozenset(cells) for cells in CELLS}
    tasks = [{task["task"] for one in run for task in one["tasks"]} for run in found]
    assert not tasks[0] & tasks[1]
    wait_for(lambda: not any(map(of_run, folders)), seconds=30, what="everything of both drills to end")
    assert [path for folder in folders for path in folder.iterdir() if path.name in {"postgres", "world"}] == []
