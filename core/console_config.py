"""Django's admin application with our console as its site."""

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """Registers the console; ``autodiscover`` of each application's ``admin`` stays as it is."""

    default_site = "core.console.Console"
