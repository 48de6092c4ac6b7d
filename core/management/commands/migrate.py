"""``manage.py migrate``, as the owner of the tables where DATABASE_OWNER_URL names one."""

from typing import Any

from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate

from core import database


class Command(Migrate):
    """Migrates as the owner's role and grants the application's role what it needs."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, then grant: a table is of no use to the application before it may read it."""
        with database.as_owner(options["database"]):
            super().handle(*args, **options)
            call_command("createcachetable", database=options["database"], verbosity=0)
            if database.two_roles():
                database.grant_to_application(options["database"])
