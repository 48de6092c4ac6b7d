"""Schedules: set, switched, and fired from rows (case-27, case-28). A finder of every sweeper.

Two sweepers never fire one slot twice: the schedule's row is locked while its slots are decided, a slot exists once,
and the run that it starts is written in the same transaction.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from chaos_app.drills.slots import Fate, NoSuchScheduleError, Policy, between, fates, occurrences
from chaos_app.models import RUNNING, DrillRun, DrillSchedule, DrillSlot
from chaos_app.services.launch import DrillsRefused, drill_launch, drills_refused, target_checked
from core.access import Right, Role, may
from core.clock import database_now
from core.errors import Conflict, HandrailError
from core.models import Membership, Workspace
from core.row_by_row import row_by_row
from tasks_app.record.append import append_administration
from tasks_app.record.events import ScheduleChanged
from tasks_app.services import intake

FIELDS = ("cron", "zone", "suite", "selection", "grace_seconds", "catch_up", "catch_up_most", "overlap", "enabled")
FIELDS_OF_CRON = 5  # minute, hour, day, month, weekday


def schedule_set(
    *, workspace: Workspace, user: User, actor: str, name: str, values: Mapping[str, Any], reason: str = ""
) -> DrillSchedule:
    """Add or change a schedule; its ``selection`` is as a launch takes it. Enabled again, it makes nothing up.

    Raises InvalidInput.
    """
    name = intake.text_checked("name", name, limit=80)
    try:
        next(occurrences(str(values.get("cron", "")), str(values.get("zone", "UTC")), database_now()), None)
    except NoSuchScheduleError as error:
        raise intake.field_error("cron", f"cannot be read: {error}.") from error
    if len(str(values["cron"]).split()) > FIELDS_OF_CRON:
        raise intake.field_error("cron", "has five fields; a sixth would be of seconds, and a run takes minutes.")
    given = {field: values[field] for field in FIELDS if field in values}
    if "selection" in given:
        target_checked(str(given.get("suite", "core")), str(given["selection"].get("target", "")))
    with transaction.atomic():
        row = DrillSchedule.objects.select_for_update().filter(workspace=workspace, name=name).first()
        before = _said(row) if row else None
        if row is None:
            row = DrillSchedule(workspace=workspace, name=name, owner=user, seen_until=database_now())
        begins_again = not row.enabled and given.get("enabled", row.enabled)
        moved = any(getattr(row, field) != given.get(field, getattr(row, field)) for field in ("cron", "zone"))
        for field, value in given.items():
            setattr(row, field, value)
        if begins_again or moved:
            row.seen_until = database_now()
        row.owner = user
        row.save()
        _leave_due(row)
        event = ScheduleChanged(what=f"drills {name}", before=before, after_change=_said(row), reason=reason or None)
        append_administration(workspace=workspace.pk, events=[event], actor=actor)
    return row


def _said(row: DrillSchedule) -> dict[str, Any]:
    return {field: getattr(row, field) for field in FIELDS}


def _leave_due(row: DrillSchedule) -> None:
    """What waited for its turn when the schedule was changed or switched off is not run."""
    if not row.enabled:
        made = {"state": "skipped", "why": "The schedule was switched off.", "decided_at": database_now()}
        row.slots.filter(state="due").update(**made)


def schedule_remove(*, workspace: Workspace, actor: str, schedule: int) -> None:
    """Remove a schedule with its slots; its runs stay."""
    with transaction.atomic():
        row = DrillSchedule.objects.select_for_update().filter(workspace=workspace, pk=schedule).first()
        if row is None:
            return
        event = ScheduleChanged(what=f"drills {row.name}", before=_said(row))
        append_administration(workspace=workspace.pk, events=[event], actor=actor)
        row.delete()


def slots_fire(now: datetime | None = None) -> int:
    """Write down the slots that have come, and decide about each; returns how many runs were started.

    ``now`` is for tests; otherwise the database's clock.
    """
    return row_by_row(
        DrillSchedule.objects.filter(enabled=True).order_by("pk").values_list("pk", flat=True),
        lambda schedule: _fire(schedule, now),
    )


def _fire(schedule: int, now: datetime | None) -> int:
    with transaction.atomic():
        row = DrillSchedule.objects.select_for_update(skip_locked=True).filter(pk=schedule, enabled=True).first()
        # None: another sweeper is at it.
        return 0 if row is None else _decide(row, now or database_now())


def _decide(row: DrillSchedule, now: datetime) -> int:
    come = between(row.cron, row.zone, row.seen_until, now)
    if come:
        DrillSlot.objects.bulk_create([DrillSlot(schedule=row, at=at) for at in come], ignore_conflicts=True)
        row.seen_until = now
        row.save(update_fields=["seen_until"])
    due = {slot.at: slot for slot in row.slots.filter(state="due").order_by("at")}
    busy = DrillRun.objects.filter(slot__schedule=row, state__in=RUNNING).exists()
    started = 0
    for fate in fates(list(due), now, policy_of(row), busy=busy):
        started += _apply(row, due[fate.at], fate, now)
    return started


def policy_of(row: DrillSchedule) -> Policy:
    """Return the policy of a schedule."""
    grace = timedelta(seconds=row.grace_seconds)
    return Policy(grace=grace, catch_up=row.catch_up, most=row.catch_up_most, overlap=row.overlap)


def _apply(row: DrillSchedule, slot: DrillSlot, fate: Fate, now: datetime) -> int:
    if not fate.state:
        return 0
    slot.state, slot.why, slot.decided_at = fate.state, fate.why, now
    if fate.state in {"fired", "late"}:
        try:
            slot.run = _launch(row, slot)
        except Conflict as busy:
            if row.overlap == "wait" or row.catch_up == "each":
                return 0  # it stays due
            slot.state, slot.why = "skipped", busy.detail
        except HandrailError as refused:
            slot.state, slot.why = "skipped", refused.detail
    slot.save()
    return int(slot.run is not None)


def _launch(row: DrillSchedule, slot: DrillSlot) -> DrillRun:
    """Start it under today's rights and limits, whoever set the schedule then."""
    if why := drills_refused(workspace=row.workspace):
        raise DrillsRefused(why)
    roles = Membership.objects.filter(user=row.owner, workspace=row.workspace).values_list("role", flat=True)
    if not row.owner.is_active or not may(frozenset(map(Role, roles)), Right.DRILLS_RUN):
        raise DrillsRefused(f"{row.owner.get_username()}, who set this schedule, may not run drills any more.")
    return drill_launch(
        workspace=row.workspace,
        user=row.owner,
        actor="system",
        suite=row.suite,
        selection=row.selection,
        slot_at=slot.at,
    )
