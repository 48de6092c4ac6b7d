"""Application configuration."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Registers ``tasks_app`` with Django."""

    name = "tasks_app"
    default_auto_field = "django.db.models.BigAutoField"
