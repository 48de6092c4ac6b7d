"""A run of which nothing is heard any more, or whose evidence cannot be kept, ends; no other waits for it."""

import shutil
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chaos_app.drills.evidence import Effect, Evidence
from chaos_app.models import DrillCase, DrillRun
from chaos_app.services.collect import drills_collect
from chaos_app.services.launch import drill_launch, drill_stop
from chaos_app.services.run_end import run_results
from tasks_app.models import Event
from tests.integration.drills.conftest import as_cell, some

pytestmark = pytest.mark.django_db
LAST_WORD = "Nothing more was heard of it"


def later(minutes: float) -> None:
    for run in DrillRun.objects.all():
        DrillRun.objects.filter(pk=run.pk).update(launched_at=run.launched_at - timedelta(minutes=minutes))


def only() -> DrillRun:
    return DrillRun.objects.get()


def test_a_controller_that_holds_its_lock_goes_on_however_late_it_is(written, people):
    written(some()[:1], state="running")
    drills_collect()
    later(10_000)
    drills_collect()
    assert only().state == "running"


def test_one_whose_lock_is_free_has_ended_whatever_process_has_its_number(written, people):
    written(some()[:1], state="running")
    drills_collect()
    written([], state="running", lives=False)
    drills_collect()
    assert (only().state, only().cases.count()) == ("failed", 1)


def test_one_that_wrote_nothing_more_than_its_lock_has_ended_too(written, people):
    folder = written(some()[:1], state="running")
    drills_collect()
    written([], state="running", lives=False)
    (folder / "run.json").unlink()
    drills_collect()
    assert (only().state, "controller ended" in only().why) == ("failed", True)


def test_one_whose_folder_is_gone_has_failed_once_it_would_be_over_with_what_is_stored_of_it(written, people):
    folder = written(some()[:1], state="running")
    drills_collect()
    shutil.rmtree(folder)
    drills_collect()
    assert only().state == "running"  # another host may have its files
    later(91)
    drills_collect()
    assert (only().state, only().exit_code, only().cases.count()) == ("failed", 2, 1)
    assert LAST_WORD in only().why
    assert Event.objects.filter(kind="drill.ended").count() == 1
    assert drill_launch(workspace=people.workspace, user=people.rhea, actor="person:rhea", suite="core")


def test_a_stop_ends_one_whose_folder_is_gone(written, people):
    folder = written(some()[:1], state="running")
    drills_collect()
    shutil.rmtree(folder)
    run = drill_stop(workspace=only().workspace, run=only().pk, user=people.rhea)
    drills_collect()
    assert only().state == "running"  # whoever has its files is given the time to end it
    DrillRun.objects.update(stop_asked_at=run.stop_asked_at - timedelta(minutes=3))
    drills_collect()
    assert (only().state, LAST_WORD in only().why) == ("failed", True)


def _named(made: Evidence) -> Evidence:
    return replace(made, cell=replace(made.cell, workload="w" * 41))


def _called(made: Evidence) -> Evidence:
    return as_cell(made, f"E04.applied.keyed.kill.{'w' * 160}")


def _with_nul(made: Evidence) -> Evidence:
    return _effect(made, reference="a\0b")


def _with_nan(made: Evidence) -> Evidence:
    return _effect(made, at=float("nan"))


def _effect(made: Evidence, **said: Any) -> Evidence:
    one = Effect(**({"at": made.began + 1, "system": "own", "operation": "do", "reference": "R", "key": "k"} | said))
    return replace(made, witness=replace(made.witness, effects=(one,)))


@pytest.mark.parametrize("spoiled", [_named, _called, _with_nul, _with_nan])
def test_a_case_that_cannot_be_kept_is_named_and_keeps_no_run_waiting_its_own_neither(written, people, spoiled):
    (first, *others) = some()
    bad = spoiled(first)
    written([bad, *others], name="run-1")
    written(some(), name="run-2")
    while drills_collect():
        pass
    first, second = DrillRun.objects.order_by("folder")
    assert [(run.state, run.cases.count(), run.exit_code) for run in (first, second)] == [
        ("ended", 2, 2),
        ("ended", 3, 0),
    ]
    assert "1 of its cases" in first.summary
    assert bad.cell.id in first.left_out[-1]["reason"]
    assert run_results(first).exit_code == 2  # a report that is made of it later is no pass either


def test_what_becomes_unfit_at_the_end_of_a_run_is_not_taken_for_what_it_was_before(written, people):
    (first, *others) = some()
    written([first, *others], state="running")
    drills_collect()
    written([_with_nul(first), *others])
    drills_collect()
    assert (only().state, only().exit_code, DrillCase.objects.count()) == ("ended", 2, 3)


def test_a_run_that_cannot_be_taken_in_at_all_ends_once_it_would_be_over_and_no_other_waits(written, people):
    written(some(), name="run-1", state="running")
    drills_collect()
    written(some(), name="run-1", state="ended", ended=1e300)
    written(some(), name="run-2")
    assert drills_collect() == 3
    assert [run.state for run in DrillRun.objects.order_by("folder")] == ["running", "ended"]
    later(91)
    drills_collect()
    assert [run.state for run in DrillRun.objects.order_by("folder")] == ["failed", "ended"]


def test_what_a_controller_says_with_a_nul_in_it_is_shown_without(written, people):
    written(some(), state="failed", why="Broken: a\0b")
    drills_collect()
    assert only().why == "Broken: a\ufffdb"
