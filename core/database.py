"""Two roles of one database: the owner migrates, the application may add to the record and never change it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connections
from psycopg import sql

# Tables that this trigger function guards are append-only; the guard holds against the owner, the grants against us.
GUARD = "handrail_refuse_change"
GUARDED = """
SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE proname = %s
"""


def two_roles() -> bool:
    """Whether the owner of the tables is another role than the application's."""
    owner = settings.DATABASE_OWNER or settings.DATABASES["default"]
    return bool(owner["USER"] != settings.DATABASES["default"]["USER"])


@contextmanager
def as_owner(alias: str) -> Iterator[None]:
    """Let the connection ``alias`` be the owner's for a while, if DATABASE_OWNER_URL is set.

    Only the account changes: the database stays the one of the connection, which under test is another.
    """
    if not settings.DATABASE_OWNER:
        yield
        return
    connection = connections[alias]
    before: dict[str, Any] = connection.settings_dict
    account = {key: settings.DATABASE_OWNER[key] for key in ("USER", "PASSWORD", "HOST", "PORT")}
    connection.close()
    connection.settings_dict = before | account
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = before


def grant_to_application(alias: str) -> None:
    """Give the application's role what it needs and no more; to be called as the owner, after migrating."""
    role = sql.Identifier(settings.DATABASES[alias]["USER"])
    with connections[alias].cursor() as cursor:
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}",
        ):
            cursor.execute(sql.SQL(statement).format(role))
        cursor.execute(GUARDED, [GUARD])
        for (table,) in cursor.fetchall():
            revoke = sql.SQL("REVOKE UPDATE, DELETE, TRUNCATE ON {} FROM {}")
            cursor.execute(revoke.format(sql.Identifier(table), role))
