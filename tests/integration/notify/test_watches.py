"""Every watch of this installation, one by one, looks into the real database, fires, and is over when its reason is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from structlog.testing import capture_logs

from approvals_app.notify.models import Alert, AlertRule, Channel, Delivery
from approvals_app.notify.services.alerts import alerts_watch
from approvals_app.notify.watch import watches
from chaos_app.models import DrillAlert, DrillRun
from core.clock import database_now
from tasks_app.models import Call, Status, Task, Worker
from tests.desk import Desk, parked, task_create


@dataclass(frozen=True)
class Reason:
    """What makes a watch fire, what ends it, and what the alert then says."""

    begin: Callable[[Desk], object]
    end: Callable[[], object]
    title: str
    of_all: bool = False  # of the whole installation, not of one workspace


def worker(pool: str) -> None:
    now = database_now()
    Worker.objects.create(name=f"w-{pool}", host="h", pid=1, pool=pool, started_at=now, seen_at=now)


def in_state(status: Status) -> Callable[[Desk], object]:
    return lambda desk: Task.objects.filter(pk=task_create(desk).pk).update(status=status, losses=3)


def again() -> None:
    Task.objects.update(status=Status.QUEUED)


def doubt(desk: Desk) -> None:
    Call.objects.filter(task=parked(desk).task).update(state="in_doubt")


def give_up(desk: Desk) -> None:
    now = database_now()
    pager = Channel.objects.create(workspace=desk.workspace, name="pager", kind="webhook")
    common: dict[str, Any] = {"workspace": desk.workspace, "channel": pager, "body": {}, "made_at": now, "due_at": now}
    for _ in range(2):
        Delivery.objects.create(kind="approval.requested", subject=uuid4(), state="dead", ended_at=now, **common)


def violate(desk: Desk) -> None:
    now = database_now()
    run = DrillRun.objects.create(workspace=desk.workspace, suite="core", seed=1, launched_at=now, state="ended")
    DrillAlert.objects.create(run=run, at=now, sentence="It happened twice.")


REASONS = {
    "outcome-unknown": Reason(
        doubt, lambda: Call.objects.update(state="happened"), "Outcome unknown: desk.clean of desk.agent"
    ),
    "stopped": Reason(in_state(Status.QUARANTINED), again, "Stopped after 3 lost workers: desk.agent"),
    "check-failed": Reason(in_state(Status.UNVERIFIED), again, "Says done, check failed: desk.agent"),
    "no-worker": Reason(
        lambda desk: Worker.objects.exclude(pool="sweeper").delete(),
        lambda: worker("prefork"),
        "No worker lives",
        of_all=True,
    ),
    "no-sweeper": Reason(
        lambda desk: Worker.objects.filter(pool="sweeper").delete(),
        lambda: worker("sweeper"),
        "No sweeper lives",
        of_all=True,
    ),
    "undelivered": Reason(
        give_up,
        lambda: Delivery.objects.update(state="sent"),
        "Messages cannot be delivered by the channel pager",
    ),
    "drill-violation": Reason(
        violate,
        lambda: DrillAlert.objects.update(seen_at=database_now()),
        "A recovery drill (core) found a violation",
    ),
}


def looked() -> list[tuple[str, str, object]]:
    """Watch once, with nothing going wrong on the way; return what stands."""
    with capture_logs() as logs:
        alerts_watch()
    assert [one for one in logs if one["event"] == "alert_not_watched"] == []
    standing = Alert.objects.filter(cleared_at=None, raised_at__isnull=False).order_by("pk")
    return [(one.rule, one.title, one.workspace_id) for one in standing]


def test_every_watch_of_this_installation_has_its_reason_here():
    assert {watch.name for watch in watches()} == set(REASONS)


@pytest.mark.parametrize("name", REASONS)
def test_the_watch_fires_once_for_its_own_reason_alone_and_is_over_with_it(desk: Desk, name: str):
    worker("prefork")
    worker("sweeper")
    assert looked() == []
    AlertRule.objects.update(holds_for=0)
    reason = REASONS[name]
    reason.begin(desk)
    expected = [(name, reason.title, None if reason.of_all else desk.workspace.pk)]
    assert looked() == expected
    assert looked() == expected
    reason.end()
    assert looked() == []


def test_what_was_given_up_leads_to_the_deliveries_of_its_own_workspace(desk: Desk):
    AlertRule.objects.update(holds_for=0)
    give_up(desk)
    alerts_watch()
    address = Alert.objects.get(rule="undelivered").address
    assert address == f"{reverse('deliveries')}?state=dead&workspace={desk.workspace.slug}"
