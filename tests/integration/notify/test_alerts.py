"""Alerts: raised once, told by the routes, cleared when it is over, told again."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from approvals_app.notify.models import Alert, AlertRule
from approvals_app.notify.services.alerts import alerts_watch
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.watch import watches
from chaos_app.models import DrillAlert, DrillRun
from core.clock import database_now
from tasks_app.models import Call, Status, Task, Worker
from tests.channels import channel, route, told
from tests.desk import Desk, parked, task_create
from tests.receiver import Receiver


def standing(rule: str) -> list[Alert]:
    return list(Alert.objects.filter(rule=rule, cleared_at=None, raised_at__isnull=False))


def test_an_unknown_outcome_is_raised_once_and_cleared_when_it_is_settled(desk: Desk, client):
    request = parked(desk)
    Call.objects.filter(task=request.task).update(state="in_doubt")
    assert alerts_watch() == 1
    assert alerts_watch() == 0
    (alert,) = standing("outcome-unknown")
    assert (alert.workspace, alert.title) == (desk.workspace, "Outcome unknown: desk.clean of desk.agent")
    client.force_login(desk.rhea)
    assert client.get(alert.address).url == f"/tasks/{request.task_id}/calls/clean/settle/"
    Call.objects.filter(task=request.task).update(state="happened")
    assert alerts_watch() == 1
    assert standing("outcome-unknown") == []
    assert Alert.objects.get(pk=alert.pk).cleared_at


def test_a_call_whose_name_is_long_in_an_address_is_an_alert_like_any_other(desk: Desk):
    tasks = [parked(desk).task, parked(desk).task]
    Call.objects.filter(task__in=tasks).update(state="in_doubt")
    Call.objects.filter(task=tasks[0]).update(name="漢" * 30)
    assert alerts_watch() == 2
    doubts = Call.objects.filter(task__in=tasks).values_list("pk", flat=True)
    assert {alert.key for alert in standing("outcome-unknown")} == {str(pk) for pk in doubts}


def test_an_alert_that_cannot_be_kept_hides_no_other_and_no_end(desk: Desk, monkeypatch):
    odd, plain, over = (parked(desk).task for _ in range(3))
    Call.objects.filter(task=over).update(state="in_doubt")
    alerts_watch()
    Call.objects.filter(task=over).update(state="happened")
    Call.objects.filter(task__in=[odd, plain]).update(state="in_doubt")
    Call.objects.filter(task=odd).update(tool="odd")
    bulk_create = Alert.objects.bulk_create

    def kept(alerts):
        for alert in alerts:
            alert.address = "x" * 301 if "odd" in alert.title else alert.address
        return bulk_create(alerts)

    monkeypatch.setattr(Alert.objects, "bulk_create", kept)
    assert alerts_watch() == 2
    (alert,) = standing("outcome-unknown")
    assert alert.key == str(Call.objects.get(task=plain).pk)


@pytest.mark.parametrize(
    ("status", "rule"), [(Status.QUARANTINED, "stopped"), (Status.UNVERIFIED, "check-failed")], ids=str
)
def test_a_task_that_stopped_or_failed_its_check_is_an_alert_as_long_as_it_does(desk: Desk, status, rule):
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=status)
    alerts_watch()
    assert [alert.address for alert in standing(rule)] == [f"/tasks/{task.pk}/"]
    Task.objects.filter(pk=task.pk).update(status=Status.QUEUED)
    alerts_watch()
    assert standing(rule) == []


@pytest.mark.parametrize(("rule", "pool"), [("no-worker", "prefork"), ("no-sweeper", "sweeper")])
def test_no_worker_or_sweeper_is_an_alert_only_once_it_has_lasted(desk: Desk, rule, pool):
    alerts_watch()
    assert standing(rule) == []
    AlertRule.objects.filter(name=rule).update(holds_for=0)
    alerts_watch()
    (alert,) = standing(rule)
    assert alert.workspace is None
    now = database_now()
    Worker.objects.create(name="w", host="h", pid=1, pool=pool, started_at=now, seen_at=now)
    alerts_watch()
    assert standing(rule) == []


def test_what_is_over_before_it_has_lasted_leaves_nothing(desk: Desk):
    alerts_watch()
    assert Alert.objects.filter(rule="no-worker").exists()
    now = database_now()
    Worker.objects.create(name="w", host="h", pid=1, pool="prefork", started_at=now, seen_at=now)
    alerts_watch()
    assert not Alert.objects.filter(rule="no-worker").exists()


def test_a_drill_that_found_a_violation_is_an_alert_until_somebody_has_seen_it(desk: Desk):
    now = database_now()
    run = DrillRun.objects.create(workspace=desk.workspace, suite="core", seed=1, launched_at=now, state="ended")
    DrillAlert.objects.create(run=run, at=now, sentence="It happened twice.")
    alerts_watch()
    assert [alert.address for alert in standing("drill-violation")] == [f"/drills/{run.pk}/"]
    DrillAlert.objects.update(seen_at=now)
    alerts_watch()
    assert standing("drill-violation") == []


def test_a_rule_that_is_switched_off_raises_nothing_and_clears_what_it_had_raised(desk: Desk):
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)
    alerts_watch()
    AlertRule.objects.filter(name="stopped").update(enabled=False)
    alerts_watch()
    assert standing("stopped") == []


def test_many_that_watch_at_once_raise_an_alert_once(desk: Desk):
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)

    def watch(_: int) -> int:
        try:
            return alerts_watch()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(watch, range(6))) == 1
    assert len(standing("stopped")) == 1


def test_one_broken_rule_stops_no_other(desk: Desk, monkeypatch):
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)
    broken = next(watch for watch in watches() if watch.name == "outcome-unknown")
    find = broken.find
    object.__setattr__(broken, "find", lambda standing: 1 / 0)
    try:
        alerts_watch()
    finally:
        object.__setattr__(broken, "find", find)
    assert len(standing("stopped")) == 1


def test_an_alert_is_told_by_the_routes_of_its_workspace_and_so_is_its_end(desk: Desk, receiver: Receiver):
    ours = channel(desk.workspace, "webhook", receiver.url)
    route(ours, "alerts")
    theirs = channel(desk.tobin.memberships.first().workspace, "webhook", receiver.url)
    route(theirs, "alerts")
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)
    alerts_watch()
    told()
    Task.objects.filter(pk=task.pk).update(status=Status.QUEUED)
    alerts_watch()
    told()
    rows = told()
    assert [(row.channel_id, row.kind) for row in rows] == [(ours.pk, "alert.raised"), (ours.pk, "alert.cleared")]
    assert len(receiver.got) == 2


def test_an_alert_that_is_over_before_its_turn_to_be_told_stays_quiet(desk: Desk, receiver: Receiver):
    route(channel(desk.workspace, "webhook", receiver.url), "alerts")
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)
    alerts_watch()
    deliveries_plan()
    Task.objects.filter(pk=task.pk).update(status=Status.QUEUED)
    alerts_watch()
    (row,) = told()
    assert (row.state, row.log[-1]["said"], receiver.got) == ("quiet", "over before it was told", [])


def test_an_alert_of_the_installation_is_told_in_every_workspace(desk: Desk, receiver: Receiver):
    for workspace in (desk.workspace, desk.tobin.memberships.first().workspace):
        route(channel(workspace, "webhook", receiver.url), "alerts", rule="no-worker")
    alerts_watch()
    AlertRule.objects.update(holds_for=0)
    alerts_watch()
    assert len(told()) == 2
    assert len(receiver.got) == 2
