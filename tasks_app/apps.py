"""Application configuration."""

from importlib import import_module

from django.apps import AppConfig

from core.tracing import traces_mask


class TasksConfig(AppConfig):
    """Registers ``tasks_app`` with Django."""

    name = "tasks_app"
    verbose_name = "Tasks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks of what users' code declares, and what is masked in traces."""
        import_module("tasks_app.checks")
        stored = import_module("tasks_app.record.stored")
        traces_mask(lambda text: stored.masker().text(text))
