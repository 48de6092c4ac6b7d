"""A user's own agent and tools under the drill: counted by their ledger, or by the proxy in front of their service."""

import json
from pathlib import Path

import pytest

from tests.drills.test_run import drill
from tests.processes import ROOT

pytestmark = pytest.mark.timeout(400)


def drilled(tmp_path: Path, package: str, *options: str) -> dict[str, dict[str, object]]:
    """Drill an example as a user would; return what the report says of each case."""
    report = tmp_path / "report.json"
    words = ("run", "--no-control", "--target", f"{package}.drill:target", "--json", str(report), *options)
    names = {"PYTHONPATH": str(ROOT / "examples"), "HANDRAIL_MODULES": package}
    done = drill(tmp_path / "var", *words, **names)
    assert done.returncode == 0, done.stdout + done.stderr
    return {case["id"]: case for case in json.loads(report.read_text())["cases"]}


def test_an_agent_with_a_ledger_is_drilled_at_each_place_that_it_passes(tmp_path: Path) -> None:
    cases = drilled(tmp_path, "own_agent", "--fault", "kill")
    places = {"E01.commit-dropped", "E02.before_send", "E05.commit-kept"}
    assert {f"{place}.readable.kill.own-agent.post" for place in places} <= set(cases)
    assert {case["verdict"] for case in cases.values()} == {"ONCE"}
    evidence = next((tmp_path / "var" / "drills").glob("run-*/evidence/*E02.before_send*"))
    witness = json.loads(evidence.read_text())["witness"]
    assert (witness["source"], len(witness["effects"])) == ("ledger()", 1)


def test_a_target_whose_tool_asks_a_person_is_answered_and_one_that_ends_otherwise_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "asking_agent"
    copy.mkdir()
    for path in (ROOT / "examples" / "own_agent").glob("*.py"):
        text = path.read_text().replace("own_agent", "asking_agent").replace("own.", "asking.")
        (copy / path.name).write_text(text.replace("asks=False", "asks=True"))
    names = {"PYTHONPATH": str(tmp_path), "HANDRAIL_MODULES": "asking_agent"}
    words = ("run", "--no-control", "--target", "asking_agent.drill:target", "--boundary", "A02", "--fault", "kill")
    done = drill(tmp_path / "var", *words, **names)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A02.before.readable.kill.own-agent.post" in done.stdout
    described = (copy / "drill.py").read_text()
    (copy / "drill.py").write_text(described.replace("    open=board,\n", '    open=board,\n    moves=("deny",),\n'))
    done = drill(tmp_path / "var", *words, **names)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Without a fault, own-agent (readable) ended WRONG: the task is " in done.stdout


def test_an_agent_of_a_service_is_drilled_through_the_recording_proxy(tmp_path: Path) -> None:
    cells = ["E03.in_flight.keyed.kill", "E04.applied.keyed.kill", "E03.in_flight.keyed.answer-lost"]
    chosen = [word for cell in cells for word in ("--cell", f"{cell}.own-service.add")]
    cases = drilled(tmp_path, "own_service", *chosen)
    assert {cell: case["verdict"] for cell, case in cases.items()} == {f"{c}.own-service.add": "ONCE" for c in cells}
    evidence = next((tmp_path / "var" / "drills").glob("run-*/evidence/*E04.applied*"))
    witness = json.loads(evidence.read_text())["witness"]
    sent = [one for one in witness["arrivals"] if one["acts"]]
    assert [one["replayed"] for one in sent] == [False, True]
    assert (witness["source"], len(witness["effects"])) == ("recording proxy", 1)
