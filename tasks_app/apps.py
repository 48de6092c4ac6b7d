"""Application configuration."""

from importlib import import_module

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Registers ``tasks_app`` with Django."""

    name = "tasks_app"
    verbose_name = "Tasks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks of what users' code declares."""
        import_module("tasks_app.checks")
