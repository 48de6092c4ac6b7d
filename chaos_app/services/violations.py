"""A drill that found a violation is an alert, until somebody has seen it."""

from django.db.models import QuerySet, UUIDField
from django.urls import reverse

from approvals_app.notify.watch import Condition, Watch, many
from chaos_app.models import DrillAlert


def _unseen() -> QuerySet[DrillAlert]:
    return DrillAlert.objects.filter(seen_at=None).select_related("run")


def _about(alert: DrillAlert) -> Condition:
    return Condition(
        key=str(alert.run_id),
        workspace=alert.run.workspace_id,
        title=f"A recovery drill ({alert.run.suite}) found a violation",
        todo="Look at the case and its evidence, then say that you have seen it.",
        address=reverse("drill-run", args=[alert.run_id]),
    )


DRILL_VIOLATION = Watch(
    name="drill-violation",
    what="A recovery drill found a violation",
    find=many(_unseen, _about, key="run_id", of=UUIDField(), workspace="run__workspace_id"),
)
