"""``manage.py demo``: everything up, with ten incidents to work on; ``--once``: without a person, under fire."""

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chaos_app.demo import place
from chaos_app.demo.once import Once
from chaos_app.demo.stay import demo_stay
from core.embedded.errors import EmbeddedError


class Command(BaseCommand):
    """Runs the stack with the outside world and the example agent."""

    help = "Run everything with ten incidents to work on, until Ctrl-C; --once kills workers, counts effects, and ends."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--once", action="store_true", help="without a person; exit 0 if every effect is there once"
        )
        parser.add_argument("--port", type=int, help="port of the pages, on loopback (default 8000; with --once any)")
        parser.add_argument("--no-browser", action="store_true", help="print the sign-in link, open nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the demo."""
        try:
            if not options["once"]:
                sys.exit(
                    demo_stay(
                        port=8000 if options["port"] is None else options["port"], browser=not options["no_browser"]
                    )
                )
            if not place.is_inside():
                place.enter()
            sys.exit(Once(port=options["port"] or 0).run())
        except EmbeddedError as error:
            raise CommandError(str(error)) from error
