"""Raises what begins, clears what is over; by any process, each alert once."""

from functools import partial

import structlog
from django.db import DataError, IntegrityError, connection, transaction

from approvals_app.notify.models import Alert, AlertRule
from approvals_app.notify.watch import Condition, Found, Watch, watches
from core.clock import database_now
from core.hints import after_commit, group_hint

GROUP = "alerts"  # of the live pages that show alerts, whatever their workspace
log = structlog.get_logger(__name__)
LOCK = 0x6E6F7469667900  # advisory; one process watches one rule at a time


def alerts_watch() -> int:
    """Compare what holds with what was raised; returns how many were raised or cleared. One broken watch stops none."""
    return sum(_watched(watch) for watch in watches())


def _watched(watch: Watch) -> int:
    try:
        with transaction.atomic():
            return _compare(watch) if _mine(watch) else 0
    except Exception:
        log.exception("alert_not_watched", rule=watch.name)
        return 0


def _mine(watch: Watch) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))", [LOCK % 2**31, watch.name])
        return bool(cursor.fetchone()[0])


def _compare(watch: Watch) -> int:
    rule, _ = AlertRule.objects.get_or_create(name=watch.name, defaults={"holds_for": watch.holds_for})
    standing = Alert.objects.filter(rule=watch.name, cleared_at=None)
    found = watch.find(standing) if rule.enabled else Found(new=[], over=list(standing))
    _note(watch, found.new)
    changed = _ripen(rule) + _clear(found.over)
    if changed:
        after_commit(partial(group_hint, group=GROUP))
    return changed


def _note(watch: Watch, new: list[Condition]) -> None:
    if not new:
        return
    now = database_now()
    alerts = [
        Alert(
            rule=watch.name,
            key=one.key,
            workspace_id=one.workspace,
            title=one.title[:300],
            todo=one.todo,
            address=one.address,
            seen_at=now,
        )
        for one in new
    ]
    if not _kept(watch, alerts):
        for alert in alerts:  # one that cannot be kept hides no other
            _kept(watch, [alert])


def _kept(watch: Watch, alerts: list[Alert]) -> bool:
    try:
        with transaction.atomic():
            Alert.objects.bulk_create(alerts)
    except (DataError, IntegrityError):
        log.exception("alerts_not_kept", rule=watch.name, keys=[alert.key for alert in alerts][:10])
        return False
    return True


def _ripen(rule: AlertRule) -> int:
    """Raise what has held for as long as the rule says."""
    now = database_now()
    waiting = Alert.objects.filter(rule=rule.name, cleared_at=None, raised_at=None)
    ripe = [alert for alert in waiting if (now - alert.seen_at).total_seconds() >= rule.holds_for]
    if ripe:
        Alert.objects.filter(pk__in=[alert.pk for alert in ripe]).update(raised_at=now)
        log.warning("alerts_raised", rule=rule.name, count=len(ripe))
    return len(ripe)


def _clear(over: list[Alert]) -> int:
    """What was raised is over; what never was is forgotten."""
    raised = [alert.pk for alert in over if alert.raised_at]
    Alert.objects.filter(pk__in=[alert.pk for alert in over if not alert.raised_at]).delete()
    return Alert.objects.filter(pk__in=raised).update(cleared_at=database_now()) if raised else 0
