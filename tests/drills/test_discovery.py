"""What the workloads cross is the table, and the table is what they cross."""

import json
from pathlib import Path

import pytest

from chaos_app.drills.cells import OUTSIDE
from chaos_app.drills.rows import ROWS
from core.boundaries import Position
from tests.drills.test_run import drill

pytestmark = pytest.mark.timeout(400)
MADE_BY_THE_DOOR = {Position.COMMIT_KEPT, Position.COMMIT_DROPPED}


def test_every_passage_is_in_the_table_and_every_place_of_the_table_is_passed(tmp_path: Path) -> None:
    # The full suite discovers all there is; of its cases one is enough here.
    one = ("--suite", "full", "--boundary", "L03", "--class", "keyed", "--fault", "kill", "--workload", "act")
    done = drill(tmp_path / "var", "run", "--no-control", *one)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "var" / "drills").iterdir()
    found = json.loads((folder / "discovered.json").read_text())
    crossed = {(seen["boundary"], seen["position"]) for one in found for seen in one["passages"]}
    places = {(row.id, str(position)) for row in ROWS for position in row.positions}
    inside = {(row, position) for row, position in places if position not in MADE_BY_THE_DOOR and row not in OUTSIDE}
    assert crossed - places == set(), "crossed, and missing from the table"
    assert inside - crossed == set(), "in the table, and crossed by no workload"
