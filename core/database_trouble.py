"""What is the matter with the database, in a sentence: it is away, its disk is full, it starts or stops."""

from django.db import InterfaceError, OperationalError

AWAY = "The database does not answer."
# By SQLSTATE (PostgreSQL's list of error codes): what it said about itself.
SAID = {
    "53100": "The disk of the database is full, so nothing more can be recorded. Make room on it.",
    "53200": "The database has run out of memory. Give it more, or lower the number of workers.",
    "53300": "The database takes no more connections. Raise max_connections, or lower the number of workers.",
    "57P01": "The database is being stopped.",
    "57P02": "The database has crashed and is recovering.",
    "57P03": "The database is starting or stopping, and takes no connections yet.",
    "25P03": "The database ended a session that had stood still within a transaction. Nothing of it was kept.",
    "25006": "The database takes no writes: it is a standby. Point DATABASE_URL at the primary.",
}


def database_trouble(error: BaseException) -> str | None:
    """Return the sentence for an error of the database itself; None for any other error.

    Accepts Django's exceptions and the driver's that they wrap.
    """
    state = getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None)
    if state in SAID:
        return SAID[state]
    if state is None and isinstance(error, OperationalError | InterfaceError):
        return AWAY
    return None
