"""The guided run, played for real: one payment with protection, two without, and nothing left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chaos_app.drills.place import LOCK
from chaos_app.guided.state import state_read
from chaos_app.models import RUNNING, DrillRun
from chaos_app.services.guided import guided_follow
from chaos_app.services.launch import drills_switch
from chaos_app.templatetags.drills import run_word
from core.clock import database_now
from tasks_app.models import Event
from tests.people import People, people_create
from tests.processes import alive, descendants, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[People]:
    settings.VAR_DIR = tmp_path
    monkeypatch.setenv("HANDRAIL_VAR", str(tmp_path))
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "core.settings")  # the controller is no part of this test run
    monkeypatch.delenv("HANDRAIL_TEST_VAR", raising=False)
    yield people_create()
    for pid in DrillRun.objects.filter(command="manage.py guided", state__in=RUNNING).values_list("pid", flat=True):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _stage(run: DrillRun, *stages: str, seconds: float = 150) -> dict[str, Any]:
    def come() -> dict[str, Any] | None:
        state = state_read(Path(run.folder)) or {}
        assert state.get("stage") != "failed", state
        return state if state.get("stage") in stages else None

    found: dict[str, Any] = wait_for(come, seconds=seconds, what=f"the stage {stages}")
    return found


@pytest.mark.timeout(400)
def test_a_person_plays_it_to_its_end(people: People):
    client = Client()
    client.force_login(people.rhea)
    assert client.post(reverse("drill-first")).status_code == 303
    run = DrillRun.objects.get(suite="guided")
    do = reverse("drill-guided-do", args=[run.pk])
    for stage in ("change", "pay"):
        assert _stage(run, stage)["asked"]
        client.post(do, {"do": "approve"})
    _stage(run, "applied")
    client.post(do, {"do": "kill"})
    _stage(run, "look")
    client.post(do, {"do": "settle", "reference": "P-999"})
    wait_for(lambda: "no payment of that number" in str(_stage(run, "look").get("problem")), seconds=20, what="a no")
    client.post(do, {"do": "settle", "reference": "P-1"})
    protected = _stage(run, "protected")
    counts = {one["name"]: len(one["entries"]) for one in protected["world"]}
    assert counts == {"tickets": 1, "config": 1, "payments": 1, "mail": 1}
    assert "divider" in {row["css"] for row in protected["task"]["rows"]}
    client.post(do, {"do": "unprotected"})
    over = _stage(run, "over")
    paid = next(one["entries"] for one in over["world"] if one["name"] == "payments")
    assert sorted((one["reference"], one["times"]) for one in paid) == [("P-1", 0), ("P-2", 2), ("P-3", 2)]
    page = client.get(reverse("drill-guided", args=[run.pk])).content.decode()
    assert page.count("Happened twice") == 2
    shown = client.get(reverse("drill-first")).content.decode()
    assert f'href="{reverse("drill-guided", args=[run.pk])}">Go on with yours' in shown
    client.post(do, {"do": "end"})
    wait_for(guided_follow, seconds=60, what="the run to be over")
    run.refresh_from_db()
    assert (run.state, run.sentence) == ("ended", "Without protection: two payments. With Handrail: one.")
    assert Event.objects.filter(stream=people.workspace.pk, kind="drill.ended").count() == 1
    assert not (Path(run.folder) / "postgres").exists()
    page = client.get(reverse("drill-guided", args=[run.pk])).content.decode()
    assert page.count("Happened twice") == 2  # the servers are gone, the picture stays
    assert run_word(run).text == "Played to its end"
    assert "Go on with yours" not in client.get(reverse("drill-first")).content.decode()
    assert client.post(do, {"do": "end"}).status_code == 409


def test_only_who_may_run_drills_begins_one_and_another_workspace_sees_none(people: People, tmp_path: Path):
    silas, tobin = Client(), Client()
    silas.force_login(people.silas)
    tobin.force_login(people.tobin)
    assert silas.post(reverse("drill-first")).status_code == 403
    fixed = {"workspace": people.workspace, "suite": "guided", "seed": 1, "state": "running", "pid": os.getpid()}
    run = DrillRun.objects.create(**fixed, launched_at=database_now(), folder=str(tmp_path))
    run.refresh_from_db()
    assert tobin.get(reverse("drill-guided", args=[run.pk])).status_code == 404
    assert silas.get(reverse("drill-guided", args=[run.pk])).status_code == 200
    assert silas.post(reverse("drill-guided-do", args=[run.pk]), {"do": "kill"}).status_code == 403


def test_a_controller_that_died_closes_its_run(people: People, tmp_path: Path):
    fixed = {"workspace": people.workspace, "suite": "guided", "seed": 1, "state": "running", "pid": os.getpid()}
    DrillRun.objects.create(**fixed, launched_at=database_now(), folder=str(tmp_path))
    (tmp_path / LOCK).touch()  # held by nobody; that its number is another process's by now says nothing
    (tmp_path / "guided.json").write_text(json.dumps({"stage": "applied"}))
    assert guided_follow() == 1
    assert guided_follow() == 0
    assert DrillRun.objects.get().state == "stopped"


@pytest.mark.timeout(300)
def test_one_that_is_stopped_ends_and_cleans_up(people: People):
    client = Client()
    client.force_login(people.rhea)
    client.post(reverse("drill-first"))
    run = DrillRun.objects.get(suite="guided")
    drills_switch(workspace=people.workspace, user=people.rhea, actor="person:rhea", off=True, reason="a release")
    run.refresh_from_db()
    assert run.stop_asked_by == people.rhea  # long before its servers are up, or even its folder is there
    wait_for(guided_follow, seconds=80, what="the run to be over")
    run.refresh_from_db()
    assert (run.state, run.sentence) == ("stopped", "The guided run ended early.")
    left = {path.name for path in Path(run.folder).iterdir()}
    assert "cleaned" in left
    assert not left & {"postgres", "run", "world"}


@pytest.mark.timeout(300)
def test_it_ends_with_the_stack_whose_page_began_it_and_leaves_nothing(people: People, monkeypatch: pytest.MonkeyPatch):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stack:  # stands for a supervisor
        monkeypatch.setenv("HANDRAIL_STACK", str(stack.pid))
        client = Client()
        client.force_login(people.rhea)
        client.post(reverse("drill-first"))
        run = DrillRun.objects.get(suite="guided")
        _stage(run, "change")
        started = descendants(run.pid)
        assert started
    wait_for(lambda: not alive(run.pid), seconds=20, what="the controller to end")
    wait_for(lambda: not any(map(alive, started)), seconds=20, what="what it had started to end")
    left = {path.name for path in Path(run.folder).iterdir()}
    assert "cleaned" in left
    assert not left & {"postgres", "run", "world"}
