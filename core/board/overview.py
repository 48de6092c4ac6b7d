"""Everything that the overview shows, read for one person in one workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce, Now, TruncHour

from approvals_app.models import ApprovalRequest
from approvals_app.notify.selectors.alerts import OpenAlerts, alerts_open
from approvals_app.selectors.figures_strip import FiguresStrip, figures_strip
from approvals_app.status import Via
from core.board.attention import Notice, attention
from core.board.fleet import Member, fleet
from core.board.plots import Plot, hours_until, spread, throughput, waiting
from core.clock import database_now
from core.models import Workspace
from core.pages import DrillsTold, drills_told
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.selectors.task_rows import rows_of, status_counts
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.status import Status
from tasks_app.views.counts import count_links

OLDEST, RECENT = 10, 8
MOST_SPANS = 5000  # requests of a day that the plot adds up


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The page, part by part."""

    notices: list[Notice]
    counts: list[dict[str, Any]]
    throughput: Plot
    waiting: Plot
    oldest: list[Task]
    decisions: list[ApprovalRequest]
    drills: DrillsTold
    workers: list[Member]
    alerts: OpenAlerts
    strip: FiguresStrip

    def context(self) -> dict[str, Any]:
        """Return the parts by name, for templates."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def overview(*, principal: Principal) -> Overview:
    """Read all of it."""
    workspace, now = principal.workspace, database_now()
    counted = status_counts(workspace=workspace)
    told = drills_told(workspace=workspace)
    return Overview(
        notices=attention(principal=principal, counts=counted, drills=told, now=now),
        counts=count_links(counted, TaskFilter(status="-"), principal.kept),  # none of them is chosen here
        throughput=_throughput(workspace, now),
        waiting=_waiting(workspace, now),
        oldest=_oldest(workspace),
        decisions=_decisions(workspace),
        drills=told,
        workers=fleet(workspace=workspace, now=now),
        alerts=alerts_open(user=principal.user),
        strip=figures_strip(user=principal.user),
    )


def _throughput(workspace: Workspace, now: datetime) -> Plot:
    hours = hours_until(now)
    ended = Task.objects.filter(workspace=workspace, ended_at__gte=hours[0]).annotate(hour=TruncHour("ended_at"))
    good = Count("pk", filter=Q(status=Status.COMPLETED))
    rows = {row["hour"]: row for row in ended.values("hour").annotate(done=good, every=Count("pk"))}
    done = [rows[hour]["done"] if hour in rows else 0 for hour in hours]
    bad = [rows[hour]["every"] - rows[hour]["done"] if hour in rows else 0 for hour in hours]
    return throughput(hours, done, bad)


def _waiting(workspace: Workspace, now: datetime) -> Plot:
    hours = hours_until(now)
    ended = Coalesce(F("decided_at"), F("closed_at"), Now())
    by_people = ApprovalRequest.objects.filter(workspace=workspace).exclude(decided_via=Via.GRANT)
    asked = by_people.annotate(until=ended).filter(until__gte=hours[0])
    spans: Sequence[tuple[datetime, datetime]] = list(asked.values_list("requested_at", "until")[:MOST_SPANS])
    return waiting(hours, spread(hours, spans), len(spans))


def _oldest(workspace: Workspace) -> list[Task]:
    return list(rows_of(Task.objects.filter(workspace=workspace, status=Status.RUNNING)).order_by("pk")[:OLDEST])


def _decisions(workspace: Workspace) -> list[ApprovalRequest]:
    decided = ApprovalRequest.objects.filter(workspace=workspace, decided_at__isnull=False)
    return list(decided.select_related("decided_by").order_by("-decided_at")[:RECENT])
