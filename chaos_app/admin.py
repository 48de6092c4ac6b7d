"""Drills in the administrator's console: looked at; what changes them are their own pages."""

from django.contrib import admin

from chaos_app.models import DrillAlert, DrillCase, DrillPin, DrillRun, DrillSchedule, DrillSlot, ToolProof
from core.admin import ReadOnlyAdmin


@admin.register(DrillRun)
class DrillRunAdmin(ReadOnlyAdmin):
    """Runs."""

    list_display = ("suite", "state", "sentence", "workspace", "launched_at")
    list_filter = ("state", "suite", "workspace")


@admin.register(DrillCase)
class DrillCaseAdmin(ReadOnlyAdmin):
    """Cases."""

    list_display = ("cell", "verdict", "as_allowed", "run", "ended_at")
    list_filter = ("verdict", "row", "klass")
    search_fields = ("cell",)


@admin.register(DrillSchedule)
class DrillScheduleAdmin(ReadOnlyAdmin):
    """Schedules."""

    list_display = ("name", "cron", "zone", "enabled", "workspace")


@admin.register(DrillSlot)
class DrillSlotAdmin(ReadOnlyAdmin):
    """Slots."""

    list_display = ("schedule", "at", "state", "why")
    list_filter = ("state",)


@admin.register(DrillAlert)
class DrillAlertAdmin(ReadOnlyAdmin):
    """Alerts."""

    list_display = ("sentence", "at", "seen_by")


@admin.register(DrillPin)
class DrillPinAdmin(ReadOnlyAdmin):
    """Pins."""

    list_display = ("cell", "workspace", "by", "at")


@admin.register(ToolProof)
class ToolProofAdmin(ReadOnlyAdmin):
    """Proofs of tools."""

    list_display = ("tool", "version", "declared", "shown", "is_true", "at")
