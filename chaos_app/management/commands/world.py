"""``manage.py world``: run the outside world in a process of its own."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from chaos_app.world import serve

# What the outside world must not have, lest anybody doubt whose count it is.
HANDRAIL_ONLY = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CELERY_BROKER_URL", "SECRET_KEY")


class Command(BaseCommand):
    """Becomes ``python -m chaos_app.world``, a process without Django and without Handrail's addresses."""

    help = "Run the outside world: tickets, configuration in git, mail, payments; it counts what reaches it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The world's own arguments."""
        serve.arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Replace this process; process id and parent stay the same."""
        names = ("dir", "port", "smtp_port", "seed", "retention", "with_parent")
        given = {name: options[name] for name in names if options[name] is not None}
        argv = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", str(value))]
        kept = {name: value for name, value in os.environ.items() if name not in HANDRAIL_ONLY}
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(settings.BASE_DIR), kept.get("PYTHONPATH")]))
        os.execve(sys.executable, [sys.executable, "-m", "chaos_app.world", *argv], kept)  # noqa: S606
