"""Who may launch drills, where, and how many; every launch is in the administration stream."""

import sys
from pathlib import Path

import pytest
from django.test import Client

from chaos_app.forms import LaunchForm
from chaos_app.models import DrillRun
from chaos_app.selectors.targets import targets_offered
from chaos_app.services.launch import DrillsRefused, command_of, drill_launch, drill_stop, drills_switch, preview
from core.errors import Conflict, InvalidInput
from tasks_app.models import Event
from tasks_app.sandbox import levels
from tasks_app.sandbox.levels import Level
from tests.processes import ROOT, wait_for

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


@pytest.mark.parametrize("narrowed", [{"row": ["E04"]}, {"klass": ["keyed"]}, {"fault": ["kill"]}, {"cell": ["E04.x"]}])
def test_a_soak_that_is_narrowed_down_is_refused_since_it_would_not_be(people, narrowed):
    with pytest.raises(InvalidInput, match="draws its places by chance"):
        launch(people, suite="soak", selection=narrowed)
    form = LaunchForm({"suite": "soak", **narrowed, "cell": "".join(narrowed.get("cell", []))})
    assert not form.is_valid()
    assert preview(suite="soak", selection={}) == []


def test_kills_are_asked_of_a_soak_only(people):
    with pytest.raises(InvalidInput, match="soak only"):
        launch(people, suite="full", selection={"kills": 5})


def test_a_case_that_is_named_is_in_the_preview_also_where_only_a_run_finds_it():
    named = "C01.before.keyed.kill.chain.hit4"
    assert preview(suite="full", selection={"cell": [named]}) == [named]
    assert preview(suite="core", selection={"cell": [named], "row": ["E04"]})[0] == named
    assert preview(suite="core", selection={"fault": ["zombie"], "row": ["L05"]})


@pytest.mark.parametrize(
    "selection",
    [{"sandbox": True}, {"fault": ["kill", "sandbox"]}, {"cell": ["E04.applied.keyed.sandbox"]}],
    ids=["asked for", "by its fault", "by its name"],
)
def test_the_tools_are_in_sandboxes_where_one_is_to_be_killed_or_a_person_wants_it(people, selection, monkeypatch):
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.NAMESPACES))
    assert "--sandbox" in command_of(launch(people, selection=selection))
    assert "E04.applied.keyed.sandbox" in preview(suite="core", selection=selection)


def test_where_no_sandbox_can_be_killed_the_launch_says_why(people, monkeypatch):
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.PROCESS, ("No walls: not on this system.",)))
    with pytest.raises(InvalidInput, match="No walls"):
        launch(people, selection={"fault": ["sandbox"]})
    assert not DrillRun.objects.exists()


def test_otherwise_the_tools_are_in_no_sandbox(people):
    assert "--sandbox" not in command_of(launch(people, selection={"row": ["E04"]}))
    assert not [cell for cell in preview(suite="core", selection={"row": ["E04"]}) if "sandbox" in cell]


@pytest.mark.django_db(transaction=True)
def test_the_controller_is_a_process_of_its_own_that_knows_its_run(people, tmp_path, settings):
    settings.BASE_DIR = tmp_path
    Path(tmp_path / "manage.py").write_text("import os, sys; print(os.environ['HANDRAIL_DRILL_TOKEN'], *sys.argv[1:])")
    assert sys.executable
    run = launch(people, seed=3)
    log = tmp_path / "drills" / f"{run.pk}.log"
    expected = f"{run.pk} drill run --suite core --seed 3 --minutes 60\n"
    wait_for(lambda: log.exists() and log.read_text() == expected, seconds=20, what="the controller to speak")


OWN = "own_agent.drill:target"


@pytest.fixture
def own(settings, monkeypatch):
    """A package of a user's, as HANDRAIL_MODULES names it."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    settings.HANDRAIL_MODULES = ["own_agent"]


def test_an_agent_of_ones_own_is_launched_by_what_its_package_offers(people, own):
    run = launch(people, selection={"target": OWN}, seed=5)
    assert command_of(run)[:8] == ["drill", "run", "--suite", "core", "--seed", "5", "--target", OWN]
    assert Event.objects.get(stream=people.workspace.pk, kind="drill.launched").data["selection"] == {"target": OWN}


def test_a_page_cannot_name_what_no_package_offers(people, own):
    for path in ("os:path", "own_agent.drill:board", "tests.agents:target"):
        with pytest.raises(InvalidInput, match="not offered"):
            launch(people, selection={"target": path})
    with pytest.raises(InvalidInput, match="core or full"):
        launch(people, suite="soak", selection={"target": OWN})


def test_a_module_that_is_no_package_or_has_no_drill_offers_nothing_and_is_no_problem(settings):
    settings.HANDRAIL_MODULES = ["tests.agents", "tests"]
    assert targets_offered() == []


def test_a_package_that_cannot_be_imported_is_named_and_breaks_nothing(settings, tmp_path, monkeypatch):
    (tmp_path / "broken_package").mkdir()
    (tmp_path / "broken_package" / "__init__.py").touch()
    (tmp_path / "broken_package" / "drill.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(str(tmp_path))
    settings.HANDRAIL_MODULES = ["broken_package"]
    (offered,) = targets_offered()
    assert (offered.path, "no_such_thing" in offered.problem) == ("broken_package.drill", True)


def test_the_page_offers_own_agents_and_says_who_counts(people, own):
    client = Client()
    client.force_login(people.rhea)
    html = client.get(f"/drills/launch/?suite=core&target={OWN}").content.decode()
    assert "own-agent: the agent own.agent" in html
    assert "Its ledger, asked by no worker" in html
    assert "Can be looked up" in html
    html = client.get(f"/drills/launch/?suite=soak&target={OWN}").content.decode()
    assert "a soak is of the built-in ones" in html
