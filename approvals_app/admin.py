"""Approvals in the admin console: read-only, whatever their state; decisions are made on the desk."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from approvals_app.models import ApprovalRequest


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """Looks and finds; changing a row here would leave the record behind."""

    list_display = ("line", "tool", "status", "task", "requested_at", "decide_by", "decided_by")
    list_filter = ("status", "risk", "tool", "workspace")
    search_fields = ("line", "name", "digest", "task__title")
    list_select_related = ("task", "decided_by")
    date_hierarchy = "requested_at"
    ordering = ("-requested_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Requests come from the record."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows change with their events only."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows go with their task."""
        return False
