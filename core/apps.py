"""Application configuration."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Registers ``core`` with Django."""

    name = "core"
    default_auto_field = "django.db.models.BigAutoField"
