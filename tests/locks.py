"""Who waits for whom in the database, for tests that force an order."""

from django.db import connection

# Of this database alone: others are on the same server. A row that is waited for names none, what else is held does.
AWAITED = """
SELECT count(*) FROM pg_locks AS awaited
WHERE NOT granted AND (%(advisory)s::oid IS NULL OR locktype = 'advisory' AND %(advisory)s::oid IN (classid, objid))
AND EXISTS (
    SELECT FROM pg_locks AS held
    WHERE held.pid = awaited.pid AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""


def locks_awaited(advisory: int | None = None) -> int:
    """Count the sessions that wait for a row or a lock that another transaction has; or for this advisory lock."""
    with connection.cursor() as cursor:
        cursor.execute(AWAITED, {"advisory": advisory})
        return int(cursor.fetchone()[0])


def lock_is_awaited() -> bool:
    """Whether any session does."""
    return locks_awaited() > 0
