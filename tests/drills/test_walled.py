"""A real drill whose tools run in sandboxes: workers die with a sandbox at work, and sandboxes die alone."""

import json
from pathlib import Path

import pytest

from tasks_app.sandbox.levels import NAMESPACES, level_here
from tests.drills.test_run import drill

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(level_here().name != NAMESPACES, reason="no walls on this machine"),
]
BLOCKED = "E04.applied.opaque.sandbox"


def test_a_sandbox_that_is_killed_leaves_an_unknown_outcome_and_a_worker_that_goes_on(tmp_path: Path) -> None:
    cells = ["E03.in_flight.keyed.sandbox", "E04.applied.readable.sandbox", BLOCKED, "E04.applied.keyed.kill"]
    report = tmp_path / "report.json"
    named = [word for cell in cells for word in ("--cell", cell)]
    done = drill(tmp_path / "var", "run", "--sandbox", "--no-control", *named, "--json", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {case["id"]: case["verdict"] for case in json.loads(report.read_text())["cases"]}
    assert verdicts == dict.fromkeys(cells, "ONCE") | {BLOCKED: "BLOCKED"}
    ends = [one for path in (tmp_path / "var").rglob("evidence/*.json") for one in _ends(json.loads(path.read_text()))]
    assert "killed" in ends
    assert set(ends) <= {"killed", "answered", "raised"}


def _ends(evidence: dict) -> list[str]:
    """Return how the sandboxes of a case ended."""
    events = [event["data"] for task in evidence["tasks"] for event in task["events"]]
    return [data["sandbox"]["ended"] for data in events if data.get("sandbox")]
