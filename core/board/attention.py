"""What needs somebody: one notice a kind, the most urgent first. No notice at all reads "Nothing needs you."."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.urls import reverse

from approvals_app.selectors.doubts import doubts_count
from approvals_app.selectors.waiting import approvals_decidable
from core.pages import DrillsTold
from core.places import place_url
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.selectors.stops import stops_in
from tasks_app.selectors.task_banners import PATIENCE
from tasks_app.status import Status, WaitKind
from tasks_app.sweeper_row import POOL
from tasks_app.workers import workers_alive

FAILED_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One kind of thing that waits or is wrong. ``since``, ``until``: the oldest, and the soonest to run out."""

    name: str
    tone: str
    glyph: str
    text: str
    url: str
    count: int | None = None
    detail: str = ""
    since: datetime | None = None
    until: datetime | None = None


def attention(*, principal: Principal, counts: Mapping[str, int], drills: DrillsTold, now: datetime) -> list[Notice]:
    """Return the notices for one person. ``counts``: the workspace's tasks by status."""
    return [
        *_approvals(principal),
        *_doubts(principal),
        *_by_status(principal, counts),
        *_failed(principal, now),
        *_nobody(principal, now),
        *_processes(principal),
        *_stops(principal),
        *_drills(principal, drills),
    ]


def _approvals(principal: Principal) -> Iterator[Notice]:
    asked = approvals_decidable(user=principal.user)
    said = asked.aggregate(count=Count("pk"), oldest=Min("requested_at"), soonest=Min("decide_by"))
    if said["count"]:
        text = "approval waits for you" if said["count"] == 1 else "approvals wait for you"
        yield Notice(
            name="approvals",
            tone="person",
            glyph="person",
            count=said["count"],
            text=text,
            url=reverse("approvals"),
            since=said["oldest"],
            until=said["soonest"],
        )


def _doubts(principal: Principal) -> Iterator[Notice]:
    count = doubts_count(workspaces=[principal.workspace.pk])
    if count:
        text = "outcome is unknown: look outside" if count == 1 else "outcomes are unknown: look outside"
        url = reverse("approvals") + "?shelf=doubt"
        yield Notice(name="doubts", tone="unknown", glyph="unknown", count=count, text=text, url=url)


def _by_status(principal: Principal, counts: Mapping[str, int]) -> Iterator[Notice]:
    stopped, unverified = counts.get(Status.QUARANTINED, 0), counts.get(Status.UNVERIFIED, 0)
    if stopped:
        text = "stopped after lost workers"
        yield Notice(
            name="stopped", tone="bad", glyph="stopped", count=stopped, text=text, url=_tasks(principal, "quarantined")
        )
    if unverified:
        text = "says done, check failed" if unverified == 1 else "say done, check failed"
        url = _tasks(principal, "unverified")
        yield Notice(name="unverified", tone="bad", glyph="unverified", count=unverified, text=text, url=url)


def _failed(principal: Principal, now: datetime) -> Iterator[Notice]:
    failed = Task.objects.filter(workspace=principal.workspace, status=Status.FAILED, ended_at__gte=now - FAILED_WITHIN)
    count = failed.count()
    if count:
        text = "failed in the last hour"
        yield Notice(name="failed", tone="bad", glyph="failed", count=count, text=text, url=_tasks(principal, "failed"))


def _nobody(principal: Principal, now: datetime) -> Iterator[Notice]:
    mine = Task.objects.filter(workspace=principal.workspace)
    due = mine.filter(wake_at__lt=now - PATIENCE, lease_nonce=None).count()
    if due:
        text = "is due and no worker takes it" if due == 1 else "are due and no worker takes them"
        yield Notice(name="due", tone="bad", glyph="timer", count=due, text=text, url=place_url(principal, "workers"))
    old = mine.filter(status=Status.WAITING, wait__kind=WaitKind.WORKER_VERSION).count()
    if old:
        text = "waits for a worker with its version" if old == 1 else "wait for a worker with their version"
        yield Notice(
            name="versions", tone="bad", glyph="version", count=old, text=text, url=place_url(principal, "workers")
        )


def _processes(principal: Principal) -> Iterator[Notice]:
    pools = set(workers_alive().values_list("pool", flat=True))
    if not pools - {POOL}:
        text, detail = "No worker lives", "Nothing runs until one starts; nothing is lost."
        yield Notice(
            name="workers", tone="bad", glyph="stopped", text=text, detail=detail, url=place_url(principal, "workers")
        )
    if POOL not in pools:
        text, detail = "No sweeper lives", "What is due without a message waits until one starts."
        yield Notice(
            name="sweeper", tone="bad", glyph="stopped", text=text, detail=detail, url=place_url(principal, "workers")
        )


def _stops(principal: Principal) -> Iterator[Notice]:
    stops = stops_in(workspaces=[principal.workspace.pk])
    if stops:
        first = stops[0]
        text = "stop is set" if len(stops) == 1 else "stops are set"
        detail = f"{first.scope} {first.name}".strip() + f": {first.reason}"
        url = reverse("approvals-stops")
        yield Notice(name="stops", tone="person", glyph="stopped", count=len(stops), text=text, detail=detail, url=url)


def _drills(principal: Principal, drills: DrillsTold) -> Iterator[Notice]:
    if drills.alerts:
        text, detail = "drill found a violation", drills.alerts[0]
        if len(drills.alerts) > 1:
            text = "drills found violations"
        count, url = len(drills.alerts), place_url(principal, "drills")
        yield Notice(
            name="drills",
            tone="bad",
            glyph="failed",
            count=count,
            text=text,
            detail=detail,
            url=url,
        )
    elif drills.last is not None and drills.trouble:
        tone, glyph = ("bad", "failed") if drills.last.exit_code == 1 else ("unknown", "unknown")
        detail = drills.last.summary or drills.last.why
        url = reverse("drill-run", args=[drills.last.pk])
        yield Notice(name="drills", tone=tone, glyph=glyph, text=drills.trouble, detail=detail, url=url)


def _tasks(principal: Principal, status: str) -> str:
    return place_url(principal, "tasks", status=status)
