"""Who may launch drills, where, and how many; every launch is in the administration stream."""

import sys
from pathlib import Path

import pytest

from chaos_app.models import DrillRun
from chaos_app.services.launch import DrillsRefused, command_of, drill_launch, drill_stop, drills_switch, preview
from core.errors import Conflict, InvalidInput
from tasks_app.models import Event
from tests.processes import wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


def launch(people, **more):
    given = {"suite": "core", "workspace": people.workspace, "user": people.rhea, "actor": "person:rhea"}
    return drill_launch(**(given | more))


def test_a_launch_is_audited_with_what_it_runs(people):
    run = launch(people, selection={"row": ["E04"]}, seed=5)
    said = Event.objects.get(stream=people.workspace.pk, kind="drill.launched")
    assert (said.actor, said.data["seed"], said.data["selection"]) == ("person:rhea", 5, {"row": ["E04"]})
    assert command_of(run) == ["drill", "run", "--suite", "core", "--seed", "5", "--boundary", "E04", "--minutes", "60"]


def test_in_a_forbidden_environment_no_drill_starts(people, settings):
    settings.HANDRAIL_ENVIRONMENT = "Production"
    with pytest.raises(DrillsRefused, match="Production"):
        launch(people)
    assert not DrillRun.objects.exists()


def test_while_drills_are_switched_off_none_starts_and_running_ones_are_asked_to_stop(people):
    running = launch(people)
    drills_switch(workspace=people.workspace, user=people.silas, actor="person:silas", off=True, reason="a release")
    running.refresh_from_db()
    assert running.stop_asked_by == people.silas
    DrillRun.objects.update(state="ended")
    with pytest.raises(DrillsRefused, match="silas switched drills off: a release"):
        launch(people)
    drills_switch(workspace=people.workspace, user=people.silas, actor="person:silas", off=False, reason="done")
    launch(people)


def test_only_as_many_run_at_once_as_may(people):
    launch(people)
    with pytest.raises(Conflict, match="not started"):
        launch(people)


def test_what_cannot_be_run_is_refused_by_name(people):
    with pytest.raises(InvalidInput, match="suite"):
        launch(people, suite="everything")
    with pytest.raises(InvalidInput, match="kills"):
        launch(people, suite="soak", selection={"kills": 10**9})


def test_a_stop_leaves_word_where_the_controller_looks(people, tmp_path):
    run = launch(people)
    folder = tmp_path / "drills" / "run-9"
    folder.mkdir(parents=True)
    DrillRun.objects.filter(pk=run.pk).update(folder=str(folder), state="running")
    drill_stop(workspace=people.workspace, run=run.pk, user=people.rhea)
    assert (folder / "stop").exists()


def test_the_preview_names_the_cases():
    assert preview(suite="core", selection={"row": ["E04"], "klass": ["keyed"]}) == ["E04.applied.keyed.kill"]


@pytest.mark.django_db(transaction=True)
def test_the_controller_is_a_process_of_its_own_that_knows_its_run(people, tmp_path, settings):
    settings.BASE_DIR = tmp_path
    Path(tmp_path / "manage.py").write_text("import os, sys; print(os.environ['HANDRAIL_DRILL_TOKEN'], *sys.argv[1:])")
    assert sys.executable
    run = launch(people, seed=3)
    log = tmp_path / "drills" / f"{run.pk}.log"
    expected = f"{run.pk} drill run --suite core --seed 3 --minutes 60\n"
    wait_for(lambda: log.exists() and log.read_text() == expected, seconds=20, what="the controller to speak")
