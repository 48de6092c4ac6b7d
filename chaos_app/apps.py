"""Application configuration."""

from django.apps import AppConfig


class DrillsConfig(AppConfig):
    """Registers ``chaos_app`` with Django."""

    name = "chaos_app"
    verbose_name = "Drills"
    default_auto_field = "django.db.models.BigAutoField"
