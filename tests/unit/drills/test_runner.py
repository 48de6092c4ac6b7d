"""What a run does about its cases, whatever they are: no server is needed to see it."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaos_app.drills.cells import Cell, cells
from chaos_app.drills.evidence import evidence_load
from chaos_app.drills.journal import Journal
from chaos_app.drills.names import Fault
from chaos_app.drills.options import Options
from chaos_app.drills.runner import HOLDING, STOPPED, Run
from chaos_app.drills.script import good
from chaos_app.drills.wide import ALONE, CREW, workers_ended

CELL: Cell = next(iter(cells("core")))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a run without its ground: whatever would be played would fail at once."""
    run = object.__new__(Run)
    run.journal, run.stopped, run.skipped = Journal(tmp_path, {"run": "r"}), threading.Event(), []
    return run


def test_a_repeat_is_not_begun_once_the_run_was_asked_to_stop_or_its_time_is_over(run: Run, tmp_path: Path) -> None:
    run._again = [CELL, CELL]
    (tmp_path / "stop").touch()
    run._play_again()
    assert run.stopped.is_set()
    assert [(one.row, one.reason) for one in run.skipped] == [(CELL.row, STOPPED)] * 2
    (tmp_path / "stop").unlink()
    run._play_again()  # the time was over: no word of a person is needed
    assert len(run.skipped) == 4


def test_a_case_that_the_drill_cannot_play_is_tried_once_more_and_then_left_out_and_ends_no_other(run: Run) -> None:
    said: list[str] = []
    run.say, run._again = said.append, []
    run._cell(CELL)  # there is no ground: it breaks
    assert run._again == [CELL]
    assert said[0].startswith(f"again  {CELL.id}: ")
    run._play_again()
    assert [one.row for one in run.skipped] == [CELL.row]
    assert run.skipped[0].reason.startswith("The drill itself could not play it: ")


def test_each_try_of_a_cell_keeps_a_file_of_its_own_with_what_the_rules_said_of_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    first, second = good().evidence(rules=()), good().evidence(rules=(), seed=2)
    run._kept, run.caught = [("c1-x", first), ("c2-x", second)], {}
    run._finish({"c1-x.json": ("a", "a"), "c2-x.json": ("b", "b")})
    kept = [evidence_load(json.loads((tmp_path / "evidence" / f"{name}.json").read_text())) for name, _ in run._kept]
    assert [(one.seed, one.rules) for one in kept] == [(1, ("a", "a")), (2, ("b", "b"))]
    assert run.evidence == kept


@pytest.mark.parametrize("fault", [Fault.KILL_BOTH, Fault.FORSAKEN])
def test_nothing_is_played_beside_a_case_that_kills_a_keeper(fault: Fault) -> None:
    assert fault in ALONE
    assert fault not in HOLDING


@pytest.mark.parametrize(("suite", "workers"), [("core", 2), ("soak", 2), ("full", 4)])
def test_for_each_worker_that_is_ended_at_once_another_is_there_to_take_over(suite: str, workers: int) -> None:
    assert CREW * workers_ended(suite) == workers
    ground: Any = SimpleNamespace(
        services=SimpleNamespace(database_url="host=/nowhere"), bugs=SimpleNamespace(url="host=/nowhere")
    )
    journal: Any = None
    run = Run(ground, Options(suite=suite), journal, print, 4)
    try:
        assert run.wide._max_workers == workers / CREW
    finally:
        run.close()
