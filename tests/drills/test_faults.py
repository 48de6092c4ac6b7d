"""One case of each kind of fault that is no death: each lands, is proven, and ends as the table allows."""

import json
from pathlib import Path

import pytest

from tests.drills.test_run import drill

pytestmark = pytest.mark.timeout(400)

ENDS = {
    "D02.before.keyed.exception": "ONCE",
    "E02.before_send.keyed.clock": "ONCE",
    "B02.before.keyed.message-lost": "ONCE",
    "A03.before.keyed.message-twice": "ONCE",
    "A04.situation.keyed.decided-twice": "ONCE",
    "A05.situation.keyed.edited": "ONCE",
    "L01.before.keyed.hang": "ONCE",
    "L02.before.keyed.zombie": "ONCE",
    "L04.situation.D02-before.keyed.hang": "ONCE",
    "L06.situation.E02-before_send.readable.forsaken": "ONCE",
    "R02.situation.keyed.sweeper": "ONCE",
    "R02.situation.keyed.two-sweepers": "ONCE",
    "C03.situation.E05-after.readable.failover": "ONCE",
    "C03.situation.E05-after.opaque.failover": "BLOCKED",
}


def test_each_kind_of_fault_lands_and_ends_as_allowed(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    chosen = [word for cell in ENDS for word in ("--cell", cell)]
    done = drill(tmp_path / "var", "run", "--no-control", *chosen, "--json", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(report.read_text())
    assert {case["id"]: case["verdict"] for case in said["cases"]} == ENDS
    held = {one["name"]: one["result"] for one in said["obligations"]}
    assert held["Recovery determinism"] == "passed"
