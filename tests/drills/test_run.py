"""Real runs of drills, small ones: workers are killed, the outside is counted, the judge and its control are judged."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT

pytestmark = pytest.mark.timeout(400)


def drill_environment(var: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE", "REDIS"))}
    return kept | {"HANDRAIL_VAR": str(var), "DJANGO_SETTINGS_MODULE": "core.settings", **more}


def drill(var: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "drill", *options]
    form: dict[str, Any] = {"env": drill_environment(var, **more), "capture_output": True, "text": True}
    return subprocess.run(command, **form, cwd=ROOT, timeout=380, check=False)


def test_deaths_at_each_kind_of_place_end_as_allowed_and_every_planted_bug_is_found(tmp_path: Path) -> None:
    """Before and within a commit, in a person's process, outside; a stopped worker; an approval that is taken back."""
    cells = ["B02.before.keyed.kill", "A02.commit-kept.keyed.kill", "D02.commit-dropped.keyed.kill"]
    cells += ["E04.applied.keyed.kill", "E02.before_send.opaque.kill", "L05.situation.E05-before.keyed.zombie"]
    cells += ["A05.situation.keyed.revoked", "E10.situation.E08-before.keyed.effect-hidden"]
    report = tmp_path / "report.json"
    chosen = [word for cell in cells for word in ("--cell", cell)]
    done = drill(tmp_path / "var", "run", *chosen, "--json", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(report.read_text())
    verdicts = {case["id"]: case["verdict"] for case in said["cases"]}
    assert set(verdicts) == set(cells)
    assert verdicts["E02.before_send.opaque.kill"] == "BLOCKED"
    assert verdicts["E04.applied.keyed.kill"] == "ONCE"
    assert len(said["planted"]) == 8
    assert all(bug["found"] and bug["runs"] >= 1 for bug in said["planted"]), said["planted"]
    assert "was caught in 16 of 16 runs" in done.stdout
    left = list((tmp_path / "var" / "drills").iterdir())
    assert [path.name for path in left[0].iterdir() if path.name in {"postgres", "run", "world"}] == []
    again = drill(tmp_path / "var", "judge", str(left[0] / "evidence"))
    assert again.returncode == 0, again.stdout


def test_a_selection_that_fits_nothing_is_refused(tmp_path: Path) -> None:
    done = drill(tmp_path / "var", "run", "--cell", "E99.nowhere")
    assert done.returncode == 3
    assert "E99.nowhere" in done.stdout
