"""``manage.py sign_in_link [USER]``: print a link that signs a person in once, on this machine."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.one_time import sign_in_link_create


class Command(BaseCommand):
    """Prints a one-time sign-in link; good for 15 minutes, on loopback only."""

    help = "Print a link that signs a person in once, within 15 minutes, in a browser on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the user's name."""
        parser.add_argument("user", help="the user's name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the link and print it."""
        user = get_user_model().objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(
                f"There is no active user named {options['user']!r}. Make one: manage.py createsuperuser."
            )
        self.stdout.write(sign_in_link_create(user=user))
