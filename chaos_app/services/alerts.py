"""Alerts of drills, ended by a person who has seen them."""

from uuid import UUID

from django.db import transaction

from chaos_app.models import DrillAlert
from core.access import Right
from core.clock import database_now
from core.errors import Forbidden
from core.principal import Principal
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillAlertSeen

SEERS = (Right.DRILLS_RUN, Right.TASKS_OPERATE)


def may_end_alerts(principal: Principal) -> bool:
    """Whether this caller runs drills or operates here: an alert ends for everybody, so who only reads may not."""
    return any(principal.may(right) for right in SEERS)


def alert_seen(*, principal: Principal, run: UUID) -> bool:
    """End the alert of a run; False where none is open. Raises Forbidden."""
    if not may_end_alerts(principal):
        raise Forbidden("Who operates here or runs drills ends an alert of a drill; it stays for them.")
    with transaction.atomic():
        open_ones = DrillAlert.objects.select_for_update(of=("self",)).select_related("run")
        alert = open_ones.filter(run__workspace=principal.workspace, run=run, seen_at=None).first()
        if alert is None:
            return False
        alert.seen_by, alert.seen_at = principal.user, database_now()
        alert.save(update_fields=["seen_by", "seen_at"])
        said = DrillAlertSeen(run=str(run), suite=alert.run.suite)
        append_administration(workspace=principal.workspace.pk, events=[said], actor=principal.actor)
    return True
