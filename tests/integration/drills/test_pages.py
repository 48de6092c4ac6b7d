"""The pages of drills: whole without scripts, behind the wall of the workspace, and what they hand out."""

import json
import zipfile
from dataclasses import replace
from io import BytesIO

import pytest

import tests.agents  # noqa: F401
from chaos_app.models import DrillCase, DrillRun, DrillSchedule
from chaos_app.services.collect import drills_collect
from chaos_app.views.runs import code_here
from core.access import Role
from tests.integration.drills.conftest import as_cell, client_of, page, some, twice
from tests.people import person
from tests.processes import ROOT

pytestmark = pytest.mark.django_db


def test_the_list_shows_the_last_result_and_the_alert(run, people):
    html = page(client_of(people.rhea), "/drills/")
    assert "one case did not end as allowed" in html
    assert "E04.twice" in html
    assert "Launch drills" in html


def test_a_run_shows_matrix_cases_obligations_and_planted_bugs(run, people):
    html = page(client_of(people.rhea), f"/drills/{run.pk}/")
    for words in (
        "the effect happened and its answer is lost",
        "not drilled",
        "Effects exactly once",
        "new key on retry",
    ):
        assert words in html


def test_a_run_says_its_result_once_and_why_it_ended_where_that_is_something_else(run, people):
    client, at = client_of(people.rhea), f"/drills/{run.pk}/"
    DrillRun.objects.update(why=run.sentence)
    assert page(client, at).count(run.sentence) == 1
    DrillRun.objects.update(why="Its controller ended.")
    assert "Its controller ended." in page(client, at)


def test_a_square_narrows_the_cases(run, people):
    html = page(client_of(people.rhea), f"/drills/{run.pk}/?row=E04&class=opaque")
    cases = html[html.index('id="cases"') :]
    assert "E04.applied.opaque.kill" in cases
    assert "E04.applied.keyed.kill" not in cases.split("duty-head")[0]


def test_a_case_shows_record_and_outside_on_one_axis_and_the_unprotected_run_beside_it(run, people):
    case = DrillCase.objects.get(cell="E04.applied.keyed.kill")
    html = page(client_of(people.rhea), f"/drills/{run.pk}/cases/{case.pk}/")
    assert "Attempt 1 of act begins" in html
    assert "EFFECT R-1" in html
    assert "The same, without protection" in html
    assert "tickets: EFFECT R-2, once more" in html
    assert 'class="link effect"' in html


def test_a_case_of_another_version_is_shown_as_judged_and_no_report_is_made_of_its_run(run, people):
    client = client_of(people.rhea)
    case = DrillCase.objects.get(cell="E04.applied.keyed.kill")
    DrillCase.objects.filter(pk=case.pk).update(evidence=case.evidence | {"format": "handrail-drill-evidence/2"})
    html = page(client, f"/drills/{run.pk}/cases/{case.pk}/")
    assert "of another version of Handrail" in html
    assert f"/drills/{run.pk}/cases/{case.pk}/evidence/" in html
    assert "The fault, step by step" not in html
    for form in ("html", "json", "junit"):
        assert "of another version" in page(client, f"/drills/{run.pk}/download/{form}/", status=409)
    assert client.get(f"/drills/{run.pk}/download/evidence/").status_code == 200


def test_from_a_case_of_the_command_line_the_way_leads_to_the_same_agent_and_walls(written, people):
    made = replace(some()[0], command="manage.py drill run --cell E04.applied.keyed.kill")
    written([made], selection={"target": "own_agent.drill:target", "sandbox": True, "repeat": 3})
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    run, client = DrillRun.objects.get(), client_of(people.rhea)
    assert run.selection == {"target": "own_agent.drill:target", "sandbox": True}
    html = page(client, f"/drills/{run.pk}/cases/{run.cases.get().pk}/")
    assert "cell=E04.applied.keyed.kill&amp;target=own_agent.drill%3Atarget&amp;sandbox=true" in html
    html = page(client, "/drills/launch/?suite=core&cell=E04.applied.keyed.kill&sandbox=true")
    assert "1 case, about" in html
    assert 'id="id_sandbox" checked' in html or 'checked id="id_sandbox"' in html


def test_a_duplicate_is_a_line_that_forks(run, people):
    case = DrillCase.objects.get(cell="E04.twice")
    assert 'class="link fork"' in page(client_of(people.rhea), f"/drills/{run.pk}/cases/{case.pk}/")


def test_another_workspace_sees_nothing_of_it(run, people):
    client = client_of(people.tobin)
    case = DrillCase.objects.first()
    for path in (f"/drills/{run.pk}/", f"/drills/{run.pk}/cases/{case.pk}/", f"/drills/{run.pk}/download/json/"):
        page(client, path, status=404)
    assert client.post(f"/drills/{run.pk}/stop/").status_code == 404


def test_who_may_not_run_drills_sees_them_and_can_start_none(run, people):
    client = client_of(people.silas)
    assert "Launch drills" not in page(client, "/drills/")
    form = page(client, "/drills/launch/")
    assert form.index("Engineers and administrators of this workspace run drills") < form.index('<form class="form')
    assert "drills:run" not in form
    assert client.post("/drills/launch/", {"suite": "core", "do": "launch"}).status_code == 403
    assert client.post(f"/drills/{run.pk}/stop/").status_code == 403


def test_who_may_set_no_stop_is_offered_none(run, people):
    viewer = client_of(person("vera", people.workspace, Role.VIEWER))
    assert "Stop all drills here" not in page(viewer, "/drills/")
    assert viewer.post("/drills/switch/", {"off": "1", "reason": "Quiet."}).status_code == 403
    assert "Stop all drills here" in page(client_of(people.silas), "/drills/")


def test_before_the_first_run_who_may_launch_is_told_to_and_others_who_can(people):
    assert "Launch the core suite" in page(client_of(people.rhea), "/drills/")
    assert "An engineer can launch one." in page(client_of(people.silas), "/drills/")


def test_the_faults_of_a_launch_say_which_process_is_killed(people):
    html = page(client_of(people.rhea), "/drills/launch/")
    for words in ("the process that runs the task", "the whole worker", "the worker and its keeper"):
        assert f">SIGKILL of {words}</option>" in html


def test_a_preview_says_what_would_run_and_starts_nothing(people):
    html = (
        client_of(people.rhea)
        .post("/drills/launch/", {"suite": "core", "row": "E04", "do": "preview"})
        .content.decode()
    )
    assert "4 cases, about" in html
    assert "E04.applied.opaque.kill" in html
    assert not DrillRun.objects.exists()


def test_a_launch_leads_to_its_run(people, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    answer = client_of(people.rhea).post("/drills/launch/", {"suite": "core", "do": "launch"})
    run = DrillRun.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/drills/{run.pk}/")
    assert "Stop and clean up" in page(client_of(people.rhea), answer["Location"])


def test_what_is_downloaded_is_a_file_and_whole(run, people):
    client = client_of(people.rhea)
    report = client.get(f"/drills/{run.pk}/download/html/")
    assert report["Content-Disposition"].startswith("attachment")
    assert "What was tested" in report.content.decode()
    assert json.loads(client.get(f"/drills/{run.pk}/download/json/").content)["exit_code"] == 1
    archive = zipfile.ZipFile(BytesIO(client.get(f"/drills/{run.pk}/download/evidence/").content))
    assert "evidence/E04.twice.json" in archive.namelist()
    page(client, f"/drills/{run.pk}/download/exe/", status=404)


def test_a_schedule_is_set_from_its_page_and_shows_its_next_times_with_offsets(people):
    client = client_of(people.rhea)
    form = {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin", "suite": "core", "grace_seconds": 600}
    form |= {"catch_up": "latest", "catch_up_most": 3, "overlap": "skip", "enabled": "on"}
    assert client.post("/drills/schedules/", form).status_code == 303
    assert DrillSchedule.objects.get().owner == people.rhea
    html = page(client, "/drills/schedules/")
    assert "02:30 +0" in html
    assert client.post("/drills/schedules/", form | {"cron": "99 * * * *"}).status_code == 422


def test_a_schedule_names_an_agent_of_ones_own_and_keeps_it_when_it_is_changed(people, settings, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    settings.HANDRAIL_MODULES = ["own_agent"]
    client, own = client_of(people.rhea), "own_agent.drill:target"
    form = {
        "name": "nightly",
        "cron": "30 2 * * *",
        "zone": "UTC",
        "suite": "core",
        "grace_seconds": 600,
        "target": own,
    }
    form |= {"catch_up": "latest", "catch_up_most": 3, "overlap": "skip", "enabled": "on"}
    assert client.post("/drills/schedules/", form).status_code == 303
    assert DrillSchedule.objects.get().selection == {"target": own}
    html = page(client, "/drills/schedules/?name=nightly")
    assert f"of <code>{own}</code>" in html
    assert f'value="{own}" selected' in html
    assert client.post("/drills/schedules/", form | {"target": ""}).status_code == 303
    assert DrillSchedule.objects.get().selection == {}


def test_the_trend_of_all_places_leads_to_the_cases_of_one_and_to_one_case(run, people):
    client = client_of(people.rhea)
    html = page(client, "/drills/trend/")
    assert "the effect happened and its answer is lost" in html
    assert "?row=E04" in html
    html = page(client, "/drills/trend/?row=E04")
    assert "/drills/trend/E04.applied.keyed.kill/" in html
    assert 'aria-label="Happened twice"' in html
    assert "All cases of E04" in page(client, "/drills/trend/E04.applied.keyed.kill/")
    assert "No run has ended yet" in page(client_of(people.tobin), "/drills/trend/")


def test_a_try_that_said_nothing_and_was_repeated_is_in_no_trend(run, people):
    case = DrillCase.objects.get(cell="E04.applied.keyed.kill")
    case.pk, case.name, case.repeat = None, "evidence/again", 1
    case.save()
    unsaid = {"verdict": "NOT_FIRED", "as_allowed": False, "takeover": 99.0}
    DrillCase.objects.filter(cell=case.cell, repeat=0).update(**unsaid)
    client = client_of(people.rhea)
    for path in ("/drills/trend/?row=E04", f"/drills/trend/{case.cell}/", f"/drills/{run.pk}/"):
        html = page(client, path)
        assert "Fault never happened" not in html, path
        assert "99 s" not in html, path
    DrillCase.objects.filter(pk=case.pk).update(**unsaid)  # the repeat said nothing either: it is what counts
    assert "Fault never happened" in page(client, "/drills/trend/?row=E04")


def test_a_run_of_other_code_says_nothing_on_the_list_and_has_its_own_matrix(run, people, settings):
    client = client_of(people.rhea)
    assert "That run was of other code" in page(client, "/drills/")
    assert 'class="square tone-ok"' not in page(client, "/drills/")
    assert 'class="square tone-ok"' in page(client, f"/drills/{run.pk}/")
    DrillRun.objects.update(versions={})
    assert "That run was of other code (<code>unknown</code>)" in page(client, "/drills/")
    DrillRun.objects.update(versions={"code": code_here()})
    assert 'class="square tone-ok"' in page(client, "/drills/")


def test_two_runs_are_compared_case_by_case(run, people, written):
    changed = [as_cell(twice(), "E04.applied.keyed.kill"), *some()[1:]]
    written(changed, name="run-2")
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    newer = DrillRun.objects.latest("pk")
    html = page(client_of(people.rhea), f"/drills/{newer.pk}/compare/")
    assert "1 case ended otherwise, 0 took clearly longer, 2 went alike, 1 is in one run only." in html
    assert "Happened twice" in html
    assert "There is no earlier run to compare with" in page(client_of(people.rhea), f"/drills/{run.pk}/compare/")
    assert f"{newer.pk}" in page(client_of(people.rhea), f"/drills/{run.pk}/compare/")
    page(client_of(people.rhea), f"/drills/{run.pk}/compare/?with=nonsense", status=404)
    page(client_of(people.tobin), f"/drills/{run.pk}/compare/", status=404)
