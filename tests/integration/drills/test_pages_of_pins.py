"""From a takeover on a real task to the case that makes it again."""

from uuid import uuid4

import pytest

import tests.agents  # noqa: F401
from chaos_app.models import DrillPin
from core.clock import database_now
from tasks_app.models import LateWrite
from tasks_app.record.append import append
from tasks_app.record.events import SliceLost
from tasks_app.services.create import task_create
from tests.integration.drills.conftest import client_of, page

pytestmark = pytest.mark.django_db


def test_a_takeover_of_a_real_task_is_pinned_with_one_click(people):
    task = task_create(
        workspace=people.workspace, owner=people.rhea, actor="person:rhea", agent="test.note", intent={"text": "a"}
    )
    form = {"lost_epoch": 1, "worker": "w", "place": "step 1", "losses": 1, "counted": True}
    lost = SliceLost(seen="process gone", exit_status="signal SIGKILL", **form)
    seq = append(stream=task.pk, events=[lost], actor="keeper:w").head_seq
    answer = client_of(people.rhea).post(f"/drills/pin/{task.pk}/{seq}/")
    assert answer.status_code == 303
    pin = DrillPin.objects.get()
    assert (pin.cell, pin.target) == ("L03.after.keyed.kill", "")
    html = page(client_of(people.rhea), answer["Location"])
    assert "Only the case" in html
    assert "No call with an effect was open, so any agent shows it" in html
    assert client_of(people.rhea).post(f"/drills/pin/{task.pk}/1/").status_code == 404


def test_what_no_drill_makes_again_is_not_pinned_and_says_why(people):
    task = task_create(
        workspace=people.workspace, owner=people.rhea, actor="person:rhea", agent="test.note", intent={"text": "a"}
    )
    form = {"lost_epoch": 1, "worker": "w", "place": "step 1", "losses": 1, "counted": False}
    lost = SliceLost(seen="no report from outside by the deadline", **form)
    seq = append(stream=task.pk, events=[lost], actor="sweeper").head_seq
    answer = client_of(people.rhea).post(f"/drills/pin/{task.pk}/{seq}/", follow=True)
    assert answer.request["PATH_INFO"] == f"/tasks/{task.pk}/"
    assert "Not pinned. No worker was lost here: the agent runs outside" in answer.content.decode()
    assert not DrillPin.objects.exists()


def test_a_worker_that_wrote_after_its_loss_had_been_stopped(people):
    task = task_create(
        workspace=people.workspace, owner=people.rhea, actor="person:rhea", agent="test.note", intent={"text": "a"}
    )
    form = {"lost_epoch": 1, "worker": "w", "place": "step 1", "losses": 1, "counted": True}
    seq = append(stream=task.pk, events=[SliceLost(seen="lease ran out", **form)], actor="sweeper").head_seq
    client = client_of(people.rhea)
    client.post(f"/drills/pin/{task.pk}/{seq}/")
    assert DrillPin.objects.get().cell == "L03.after.keyed.kill-both"
    late = {"kind": "step.decided", "data": {}, "actor": "worker:w", "held_epoch": 2, "presented_nonce": uuid4()}
    LateWrite.objects.create(stream=task.pk, at=database_now(), presented_epoch=1, **late)
    client.post(f"/drills/pin/{task.pk}/{seq}/")
    assert DrillPin.objects.get().cell == "L03.after.keyed.zombie"
