"""Drills in the administrator's console: looked at; what changes them are their own pages."""

from django.contrib import admin

from chaos_app.models import (
    DrillAlert,
    DrillCase,
    DrillPin,
    DrillRun,
    DrillSchedule,
    DrillSlot,
    DrillSwitch,
    ToolProof,
)
from core.console import ReadOnlyAdmin


@admin.register(DrillRun)
class DrillRunAdmin(ReadOnlyAdmin):
    """Runs."""

    list_display = ("suite", "state", "sentence", "workspace", "launched_at")
    list_filter = ("state", "suite", "workspace")
    search_fields = ("suite", "sentence")
    list_select_related = ("workspace",)


@admin.register(DrillCase)
class DrillCaseAdmin(ReadOnlyAdmin):
    """Cases."""

    within = "run__workspace"
    list_display = ("cell", "verdict", "as_allowed", "run", "ended_at")
    list_filter = ("verdict", "row", "klass")
    search_fields = ("cell",)
    list_select_related = ("run",)


@admin.register(DrillSchedule)
class DrillScheduleAdmin(ReadOnlyAdmin):
    """Schedules."""

    list_display = ("name", "cron", "zone", "enabled", "workspace")
    list_filter = ("enabled", "workspace")
    search_fields = ("name",)
    list_select_related = ("workspace",)


@admin.register(DrillSlot)
class DrillSlotAdmin(ReadOnlyAdmin):
    """Slots."""

    within = "schedule__workspace"
    list_display = ("schedule", "at", "state", "why")
    list_filter = ("state",)
    search_fields = ("schedule__name", "why")
    list_select_related = ("schedule",)


@admin.register(DrillAlert)
class DrillAlertAdmin(ReadOnlyAdmin):
    """Alerts."""

    within = "run__workspace"
    list_display = ("sentence", "at", "seen_by")
    list_filter = (("seen_by", admin.EmptyFieldListFilter),)
    search_fields = ("sentence",)


@admin.register(DrillPin)
class DrillPinAdmin(ReadOnlyAdmin):
    """Pins."""

    list_display = ("cell", "workspace", "by", "at")
    list_filter = ("workspace",)
    search_fields = ("cell",)
    list_select_related = ("workspace", "by")


@admin.register(ToolProof)
class ToolProofAdmin(ReadOnlyAdmin):
    """Proofs of tools."""

    within = ""
    list_display = ("tool", "version", "declared", "shown", "is_true", "at")
    list_filter = ("is_true", "declared")
    search_fields = ("tool",)


@admin.register(DrillSwitch)
class DrillSwitchAdmin(ReadOnlyAdmin):
    """Workspaces in which no drill starts, and why."""

    list_display = ("workspace", "reason", "set_by", "set_at")
    list_filter = ("workspace",)
    search_fields = ("reason", "set_by__username")
    list_select_related = ("workspace", "set_by")
