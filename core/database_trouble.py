"""What is the matter with the database, in a sentence: it is away, its disk is full, it starts or stops."""

from django.db import InterfaceError, InternalError, OperationalError

STOOD_STILL = "25P03"
AWAY = "The database does not answer."
# By SQLSTATE (PostgreSQL's list of error codes): what it said about itself.
SAID = {
    "53100": "The disk of the database is full, so nothing more can be recorded. Make room on it.",
    "53200": "The database has run out of memory. Give it more, or lower the number of workers.",
    "53300": "The database takes no more connections. Raise max_connections, or lower the number of workers.",
    "57P01": "The database is being stopped.",
    "57P02": "The database has crashed and is recovering.",
    "57P03": "The database is starting or stopping, and takes no connections yet.",
    STOOD_STILL: "The database ended a session that had stood still within a transaction. Nothing of it was kept.",
    "25006": "The database takes no writes: it is a standby. Point DATABASE_URL at the primary.",
}


def database_trouble(error: BaseException) -> str | None:
    """Return the sentence for an error of the database itself; None for any other error.

    Accepts Django's exceptions and the driver's that they wrap.
    """
    state = _state(error)
    if state in SAID:
        return SAID[state]
    if state is None and isinstance(error, OperationalError | InterfaceError):
        return AWAY
    return None


def database_away(error: BaseException) -> bool:
    """Whether a statement failed by no fault of whoever sent it: no answer, or a session that had stood still.

    The driver's other internal errors, such as of a transaction that is aborted already, are the sender's own.
    """
    if isinstance(error, InternalError):
        return _state(error) == STOOD_STILL
    return isinstance(error, OperationalError | InterfaceError)


def _state(error: BaseException) -> str | None:
    return getattr(error, "sqlstate", None) or getattr(error.__cause__, "sqlstate", None)
