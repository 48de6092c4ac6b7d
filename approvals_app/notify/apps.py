"""Application configuration."""

from django.apps import AppConfig


class NotifyConfig(AppConfig):
    """Registers ``approvals_app.notify`` with Django: an application of its own, with migrations of its own."""

    name = "approvals_app.notify"
    label = "notify"
    verbose_name = "Alerts and notifications"
    default_auto_field = "django.db.models.BigAutoField"
