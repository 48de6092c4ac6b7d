"""What a run's controller writes becomes rows: once, judged, with its digest; a violation raises an alert."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from chaos_app.drills.evidence import evidence_digest, evidence_load
from chaos_app.models import DrillAlert, DrillCase, DrillRun
from chaos_app.services.collect import drills_collect
from chaos_app.services.run_end import run_results
from tasks_app.models import Event
from tests.integration.drills.conftest import some, twice

pytestmark = pytest.mark.django_db


def test_a_run_from_the_command_line_is_taken_in_whole_and_once(written, people):
    written(some())
    assert drills_collect() == 3
    assert drills_collect() == 0
    run = DrillRun.objects.get()
    assert (run.state, run.exit_code) == ("ended", 0)
    assert run.sentence.startswith("3 of 3 cases that fired end as allowed; 1 held for a person")
    assert not DrillAlert.objects.exists()


def test_a_launch_on_the_command_line_is_in_the_trail_by_whom_the_system_names(written, people):
    written(some(), user="rhea", host="quay", selection={"cells": ["E04.applied.keyed.kill"], "hit": None})
    drills_collect()
    drills_collect()
    run = DrillRun.objects.get()
    said = Event.objects.get(stream=run.workspace_id, kind="drill.launched")
    assert said.actor == "command:rhea@quay"
    assert said.data["run"] == str(run.pk)
    assert said.data["selection"] == {"cells": ["E04.applied.keyed.kill"]}


def test_the_evidence_is_kept_with_its_digest_and_can_be_judged_again(written, people):
    written(some())
    drills_collect()
    for case in DrillCase.objects.all():
        assert evidence_digest(evidence_load(case.evidence)) == case.digest
    assert run_results(DrillRun.objects.get()).sentence == DrillRun.objects.get().sentence


def test_a_violation_raises_an_alert_and_the_end_is_in_the_administration_stream(written, people):
    written([*some(), twice()])
    drills_collect()
    assert "E04.twice" in DrillAlert.objects.get().sentence
    ended = Event.objects.get(stream=DrillRun.objects.get().workspace_id, kind="drill.ended")
    assert ended.data["exit_code"] == 1


def test_a_run_that_is_under_way_shows_what_it_has_so_far(written, people):
    written(some()[:1], state="running")
    drills_collect()
    assert DrillRun.objects.get().state == "running"
    written(some())
    drills_collect()
    assert (DrillRun.objects.get().state, DrillCase.objects.count()) == ("ended", 3)


def test_a_run_whose_controller_was_killed_ends_as_failed_and_keeps_what_it_had(written, people):
    written(some()[:1], state="running", lives=False)  # that its number is another process's by now says nothing
    drills_collect()
    run = DrillRun.objects.get()
    assert (run.state, run.cases.count(), run.exit_code) == ("failed", 1, 2)
    assert "controller ended before" in run.why


def test_a_run_that_was_stopped_or_whose_control_came_through_is_no_pass_on_its_page_either(written, people):
    seen, unseen = ({"row": "E04", "klass": "keyed", "end": end} for end in ("REPEATED", "ONCE"))
    cut = {"row": "E05", "position": "before", "klass": "keyed", "fault": "SIGKILL", "reason": "Stopped.", "cut": True}
    (written(some(), name="run-1", state="stopped", caught=[seen]) / "left-out.json").write_text(json.dumps([cut]))
    written(some(), name="run-2", caught=[seen, unseen])
    written(some(), name="run-3", caught=[seen])
    while drills_collect():
        pass
    runs = DrillRun.objects.order_by("folder")
    assert [run.exit_code for run in runs] == [2, 2, 0]
    assert [run_results(run).exit_code for run in runs] == [2, 2, 0]
    assert [run_results(run).summary for run in runs] == [run.summary for run in runs]


def test_a_file_that_is_being_written_is_left_for_the_next_look(written, people):
    folder = written(some()[:1], state="running")
    (folder / "evidence" / "half.json").write_text('{"format": ')
    assert drills_collect() == 1


def test_evidence_of_another_version_is_no_pass_and_keeps_no_other_run_waiting(written, people):
    (newer, *others) = some()
    folder = written([newer, *others], name="run-1", state="running")
    _of_another_version(folder / "evidence" / f"{newer.cell.id}.json")
    written(some(), name="run-2")
    assert drills_collect() == 5
    assert drills_collect() == 0
    written([], name="run-1")  # it ends
    drills_collect()
    runs = DrillRun.objects.order_by("folder")
    assert [(run.state, run.cases.count(), run.exit_code) for run in runs] == [("ended", 2, 2), ("ended", 3, 0)]
    assert runs[0].summary.startswith("Not complete: the evidence of 1 of its cases")


def test_what_a_newer_sweeper_has_stored_does_not_keep_an_older_one_from_ending_the_run(written, people):
    written(some(), state="running")
    drills_collect()
    case = DrillCase.objects.first()
    DrillCase.objects.filter(pk=case.pk).update(evidence=case.evidence | {"format": "handrail-drill-evidence/2"})
    for file in written([]).glob("evidence/*.json"):
        file.unlink()
    drills_collect()
    assert (DrillRun.objects.get().state, DrillRun.objects.get().exit_code) == ("ended", 2)


def _of_another_version(file: Path) -> None:
    """Let a fault stand there that this version does not know."""
    stored = json.loads(file.read_text())
    stored["cell"]["fault"] = "SIGKILL of a fault to come"
    file.write_text(json.dumps(stored))


def test_what_a_run_lays_beside_its_cases_at_its_end_is_judged_as_well(written, people):
    (whole, *others) = some()
    early = [replace(one, rules=(), controls=one.controls[:1]) for one in (whole, *others)]
    written(early, state="running")
    drills_collect()
    case = DrillCase.objects.get(cell=whole.cell.id)
    assert (case.rules, case.verdict) == (0, "ONCE")
    written([replace(whole, rules=("a", "b")), *early[1:]])
    drills_collect()
    case.refresh_from_db()
    assert (case.rules, case.verdict, case.broken[0]["invariant"]) == (2, "WRONG", "S12")
    assert [control["kind"] for control in case.evidence["controls"]] == ["twin", "unprotected"]
    assert evidence_digest(evidence_load(case.evidence)) == case.digest
    assert DrillRun.objects.get().exit_code == 1
    assert whole.cell.id in DrillAlert.objects.get().sentence
