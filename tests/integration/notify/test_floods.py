"""A flood of one kind in one workspace: others are alerted all the same, the newest too, and nothing flaps."""

from collections.abc import Callable
from typing import Any

import pytest

from approvals_app.notify import watch
from approvals_app.notify.models import Alert
from approvals_app.notify.services.alerts import alerts_watch
from chaos_app.models import DrillAlert, DrillRun
from core.clock import database_now
from core.models import Workspace
from tasks_app.models import Call, Status, Task
from tests.desk import Desk, parked, task_create


def unverified(desk: Desk) -> None:
    Task.objects.filter(pk=task_create(desk).pk).update(status=Status.UNVERIFIED)


def quarantined(desk: Desk) -> None:
    Task.objects.filter(pk=task_create(desk).pk).update(status=Status.QUARANTINED)


def doubted(desk: Desk) -> None:
    made = parked(desk, arguments={"path": f"/{Call.objects.count()}"})
    Call.objects.filter(task=made.task).update(state="in_doubt")


def violated(desk: Desk) -> None:
    now = database_now()
    run = DrillRun.objects.create(workspace=desk.workspace, suite="core", seed=1, launched_at=now, state="ended")
    DrillAlert.objects.create(run=run, at=now, sentence="It happened twice.")


def elsewhere(desk: Desk) -> Workspace:
    """Let the newest one be of another workspace."""
    other = desk.tobin.memberships.first().workspace
    for model in (Call, Task, DrillRun):
        newest = model.objects.order_by("-pk").first()
        model.objects.filter(pk=newest.pk if newest else None).update(workspace=other)
    return other


def open_alerts(rule: str) -> dict[Any, Any]:
    return {one.key: one.pk for one in Alert.objects.filter(rule=rule, cleared_at=None, raised_at__isnull=False)}


KINDS = {"check-failed": unverified, "stopped": quarantined, "outcome-unknown": doubted, "drill-violation": violated}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MOST", 2)
    monkeypatch.setattr(watch, "MOST_STANDING", 4)


@pytest.mark.parametrize(("rule", "make"), KINDS.items(), ids=KINDS)
def test_what_stands_in_one_workspace_silences_no_other(desk: Desk, rule: str, make: Callable[[Desk], None]):
    for _ in range(3):
        make(desk)
    other = elsewhere(desk)
    for _ in range(2):
        make(desk)  # the one of the other workspace is neither among the oldest nor among the newest
    alerts_watch()
    assert Alert.objects.filter(rule=rule, workspace=other, cleared_at=None, raised_at__isnull=False).count() == 1


def test_the_newest_is_alerted_although_as_many_stand_as_begin_in_one_look(desk: Desk):
    for _ in range(2):
        unverified(desk)
    alerts_watch()
    unverified(desk)
    newest = Task.objects.latest("pk")
    alerts_watch()
    assert str(newest.pk) in open_alerts("check-failed")


def test_nothing_is_over_for_want_of_room_and_room_comes_when_something_is(desk: Desk):
    for _ in range(7):
        unverified(desk)
    for _ in range(4):
        alerts_watch()
    stand = open_alerts("check-failed")
    assert len(stand) == 4
    unverified(desk)
    assert (alerts_watch(), open_alerts("check-failed")) == (0, stand)
    first, *others = stand
    Task.objects.filter(pk=first).update(status=Status.QUEUED)
    alerts_watch()
    alerts_watch()
    after = open_alerts("check-failed")
    assert first not in after
    assert {key: after[key] for key in others} == {key: stand[key] for key in others}
    assert len(after) > 3
