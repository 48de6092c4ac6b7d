"""Drills are switched off while one is being launched: it is stopped, or it never starts."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from chaos_app.models import DrillRun, DrillSwitch
from chaos_app.services import guided, launch
from chaos_app.services.collect import drills_collect
from chaos_app.services.guided import guided_follow, guided_launch
from chaos_app.services.launch import DrillsRefused, drill_launch, drills_switch
from tests.locks import lock_is_awaited
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def in_thread(work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.fixture(autouse=True)
def _nothing_starts(settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = settings.BASE_DIR = tmp_path
    (tmp_path / "manage.py").write_text("")


def switch_off(people) -> None:
    drills_switch(workspace=people.workspace, user=people.silas, actor="person:silas", off=True, reason="a release")


@pytest.mark.parametrize("module", [launch, guided], ids=["drill", "guided"])
def test_a_launch_that_had_read_no_switch_is_asked_to_stop_by_the_one_that_follows(people, monkeypatch, module):
    read, go_on = threading.Event(), threading.Event()

    def refused(**given: Any) -> str:
        why = original(**given)
        read.set()
        assert go_on.wait(60)
        return why

    original = launch.drills_refused
    monkeypatch.setattr(module, "drills_refused", refused)
    fixed = {"workspace": people.workspace, "user": people.rhea, "actor": "person:rhea"}
    more = {"suite": "core"} if module is launch else {}
    start = drill_launch if module is launch else guided_launch
    launching = in_thread(lambda: start(**fixed, **more))
    assert read.wait(60)
    switching = in_thread(lambda: switch_off(people))
    try:
        wait_for(lambda: lock_is_awaited() or not switching.is_alive(), what="the switch to wait, or to be through")
    finally:
        go_on.set()
        launching.join(60)
        switching.join(60)
    assert DrillRun.objects.get().stop_asked_by == people.silas


@pytest.mark.parametrize("start", [drill_launch, guided_launch])
def test_a_launch_that_follows_the_switch_is_refused(people, start):
    switch_off(people)
    more = {"suite": "core"} if start is drill_launch else {}
    with pytest.raises(DrillsRefused, match="a release"):
        start(workspace=people.workspace, user=people.rhea, actor="person:rhea", **more)
    assert not DrillRun.objects.exists()


class Died(BaseException):
    """The process ended here."""


def switch_off_and_die(people, monkeypatch) -> None:
    def dies(**_: Any) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(launch, "drill_stop", dies)
        with pytest.raises(Died):
            switch_off(people)
    assert DrillSwitch.objects.exists()
    assert DrillRun.objects.get().stop_asked_at is None


def test_a_run_is_asked_to_stop_though_whoever_switched_drills_off_died_before_it_did(written, people, monkeypatch):
    folder = written([], state="running")
    drills_collect()
    switch_off_and_die(people, monkeypatch)
    drills_collect()
    assert DrillRun.objects.get().stop_asked_by == people.silas
    assert (folder / "stop").exists()


def test_a_guided_run_is_asked_to_stop_though_whoever_switched_drills_off_died(written, people, monkeypatch):
    folder = written([], state="running")
    (folder / "run.json").unlink()
    guided_launch(workspace=people.workspace, user=people.rhea, actor="person:rhea")
    DrillRun.objects.update(folder=str(folder), state="running")
    switch_off_and_die(people, monkeypatch)
    guided_follow()
    assert DrillRun.objects.get().stop_asked_by == people.silas
    assert (folder / "stop").exists()


def test_a_run_that_was_started_in_a_shell_after_drills_were_switched_off_goes_on(written, people):
    switch_off(people)
    folder = written([], state="running")
    drills_collect()
    drills_collect()
    assert DrillRun.objects.get().stop_asked_at is None
    assert not (folder / "stop").exists()
