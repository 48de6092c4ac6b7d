"""Who waits for whom in the database, for tests that force an order."""

from django.db import connection

# Of this database alone: others are on the same server. A row that is waited for names none, what else is held does.
AWAITED = """
SELECT EXISTS (
    SELECT FROM pg_locks AS awaited JOIN pg_locks AS held USING (pid)
    WHERE NOT awaited.granted AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""


def lock_is_awaited() -> bool:
    """Whether a session waits for a row or a lock that another transaction has."""
    with connection.cursor() as cursor:
        cursor.execute(AWAITED)
        return bool(cursor.fetchone()[0])
