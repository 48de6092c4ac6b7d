"""``manage.py sweep``: the sweeper."""

from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand

from core.metrics import metrics_begin_shared
from core.tracing import tracing_begin
from tasks_app import registry
from tasks_app.sweeper import Sweeper


class Command(BaseCommand):
    """Run one sweeper until it is ended; any number may run at once."""

    help = "Finds tasks that are due, leases that ran out and timers, and wakes workers. Run at least one."
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        """Sweep until SIGTERM or Ctrl-C, which may come at any moment."""
        metrics_begin_shared()
        tracing_begin("sweeper")
        registry.modules_load()  # finders compare what was approved with the contracts of today
        with suppress(KeyboardInterrupt):
            Sweeper().run()
