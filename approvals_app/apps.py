"""Application configuration."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Registers ``approvals_app`` with Django."""

    name = "approvals_app"
    verbose_name = "Approvals"
    default_auto_field = "django.db.models.BigAutoField"
