"""A guided run whose launcher or controller died blocks no other: its row is closed, by whoever looks."""

import fcntl
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chaos_app.drills.place import LOCK
from chaos_app.models import DrillRun
from chaos_app.services import guided
from chaos_app.services.guided import guided_follow, guided_launch
from chaos_app.services.launch import drill_launch
from core.errors import Conflict
from tasks_app.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_starts(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = settings.BASE_DIR = tmp_path
    (tmp_path / "manage.py").write_text("")


def launched(people) -> DrillRun:
    guided_launch(workspace=people.workspace, user=people.rhea, actor="person:rhea")
    return DrillRun.objects.get(suite="guided")


def drill(people) -> DrillRun:
    return drill_launch(workspace=people.workspace, user=people.rhea, actor="person:rhea", suite="core")


def later(**span: float) -> None:
    for run in DrillRun.objects.all():
        DrillRun.objects.filter(pk=run.pk).update(launched_at=run.launched_at - timedelta(**span))


def never(run: DrillRun) -> None:
    raise KeyboardInterrupt  # stands for the launcher's death: nothing after the commit happens


@pytest.mark.parametrize("dies", [True, False], ids=["the launcher", "the controller"])
def test_one_that_never_began_is_over_after_a_minute_and_others_may_run(people, monkeypatch, dies: bool):
    if dies:
        monkeypatch.setattr(guided, "_start", never)
        with pytest.raises(KeyboardInterrupt):
            launched(people)
    run = DrillRun.objects.get() if dies else launched(people)
    with pytest.raises(Conflict):
        drill(people)
    assert guided_follow() == 0
    later(seconds=61)
    assert guided_follow() == 1
    assert drill(people)
    run.refresh_from_db()
    assert (run.state, run.why) == ("failed", "Its controller ended before it began.")
    assert Event.objects.filter(stream=people.workspace.pk, kind="drill.ended").count() == 1


def test_one_that_cannot_be_started_says_so_at_once(people, monkeypatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(subprocess, "Popen", full)
    run = launched(people)
    assert (run.state, "No space left" in run.why) == ("failed", True)
    client = Client()
    client.force_login(people.rhea)
    assert "No space left" in client.get(reverse("drill-guided", args=[run.pk])).content.decode()


def test_the_folder_is_named_before_the_controller_is_there_and_the_held_lock_says_that_it_is(people):
    run = launched(people)
    folder = Path(run.folder)
    assert (run.state, folder.exists(), len(folder.name)) == ("starting", False, len("run-") + 12)
    folder.mkdir()
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        later(minutes=500)
        assert guided_follow() == 0
        run.refresh_from_db()
        assert run.state == "running"
    assert guided_follow() == 1


def test_one_whose_files_are_gone_is_over_once_it_would_be_or_is_asked_to_end(people):
    run = launched(people)
    DrillRun.objects.update(state="running")
    assert guided_follow() == 0
    client = Client()
    client.force_login(people.rhea)
    do = reverse("drill-guided-do", args=[run.pk])
    assert client.post(do, {"do": "approve"}).status_code == 409
    assert client.post(do, {"do": "end"}).status_code == 303
    run.refresh_from_db()
    assert run.stop_asked_at
    DrillRun.objects.update(stop_asked_at=run.stop_asked_at - timedelta(minutes=3))
    assert guided_follow() == 1
    DrillRun.objects.update(state="running", stop_asked_at=None)
    assert guided_follow() == 0
    later(minutes=121)
    assert guided_follow() == 1
    run.refresh_from_db()
    assert (run.state, "Nothing more was heard" in run.why) == ("failed", True)
