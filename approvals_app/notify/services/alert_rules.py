"""Rules of alerts are changed here, each change said in the administration stream of every workspace.

A rule holds for the whole installation: whoever reads one workspace's stream must see why it fell silent.
"""

from typing import Any

from django.db import transaction

from approvals_app.notify.models import AlertRule
from core.models import Workspace
from tasks_app.record.append import append_administration
from tasks_app.record.events import ChannelChanged


def alert_rule_save(*, rule: AlertRule, actor: str) -> None:
    """Save a rule; one that stays as it was is not said."""
    with transaction.atomic():
        before = _facts(AlertRule.objects.select_for_update().get(pk=rule.pk))
        rule.save()
        if before == _facts(rule):
            return
        event = ChannelChanged(what=f"alert rule {rule.name}", before=before, after_change=_facts(rule))
        for workspace in Workspace.objects.order_by("pk").values_list("pk", flat=True):
            append_administration(workspace=workspace, events=[event], actor=actor)


def _facts(rule: AlertRule) -> dict[str, Any]:
    return {"enabled": rule.enabled, "holds_for": rule.holds_for}
