"""Application configuration."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from core.logs import logs_begin


class CoreConfig(AppConfig):
    """Registers ``core`` with Django."""

    name = "core"
    verbose_name = "Workspaces and access"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Load the Celery application, so that web and commands send their wake-ups to the broker of the settings."""
        logs_begin(as_json=settings.HANDRAIL_LOGS_JSON)
        import_module("core.celery")
        import_module("core.checks")
