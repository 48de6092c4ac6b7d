"""A drill that found a violation is an alert, until somebody has seen it."""

from collections.abc import Iterator

from django.urls import reverse

from approvals_app.notify.watch import MOST, Condition, Watch
from chaos_app.models import DrillAlert


def _violations() -> Iterator[Condition]:
    unseen = DrillAlert.objects.filter(seen_at=None).select_related("run").order_by("pk")
    for alert in unseen[:MOST]:
        yield Condition(
            key=str(alert.run_id),
            workspace=alert.run.workspace_id,
            title=f"A recovery drill ({alert.run.suite}) found a violation",
            todo="Look at the case and its evidence, then say that you have seen it.",
            address=reverse("drill-run", args=[alert.run_id]),
        )


DRILL_VIOLATION = Watch(name="drill-violation", what="A recovery drill found a violation", find=_violations)
