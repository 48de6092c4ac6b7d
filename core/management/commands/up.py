"""``manage.py up``: everything, on this machine, until Ctrl-C."""

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.embedded.errors import EmbeddedError
from core.stack import Stack, stack_run


class Command(BaseCommand):
    """Runs Postgres and Valkey (unless DATABASE_URL and REDIS_URL name yours), web, two workers and a sweeper."""

    help = "Run everything on this machine until Ctrl-C; what dies is started again."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--port", type=int, default=8000, help="port of the pages, on loopback (0: any free one)")
        parser.add_argument("--pool", choices=["prefork", "threads"], default="prefork", help="how workers run slices")
        parser.add_argument("--concurrency", type=int, default=Stack.concurrency, help="slices at once in each worker")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the stack."""
        stack = Stack(port=options["port"], pool=options["pool"], concurrency=options["concurrency"])
        try:
            sys.exit(stack_run(stack))
        except EmbeddedError as error:
            raise CommandError(str(error)) from error
