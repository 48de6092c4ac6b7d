"""Application configuration."""

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Registers ``core`` with Django."""

    name = "core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Load the Celery application, so that web and commands send their wake-ups to the broker of the settings."""
        import_module("core.celery")
        import_module("core.checks")
