"""Application configuration."""

from django.apps import AppConfig


class DrillsConfig(AppConfig):
    """Registers ``chaos_app`` with Django."""

    name = "chaos_app"
    default_auto_field = "django.db.models.BigAutoField"
