"""A bound on transactions that stand still: whoever is stopped within one holds its locks, and no lease runs out."""

from django.conf import settings
from django.db import connection
from django.db.models import Func, TextField, Value

NAME = "idle_in_transaction_session_timeout"


class StandsStill(Func):
    """Let Postgres end this session if it is idle within this transaction for ``seconds``; over with the transaction.

    An expression of a statement that is sent anyway: it costs no round trip.
    """

    function = "set_config"
    output_field = TextField()

    def __init__(self, seconds: float) -> None:
        super().__init__(Value(NAME), Value(milliseconds(seconds)), Value(True))


def milliseconds(seconds: float) -> str:
    """Return a bound as Postgres takes it."""
    return str(int(seconds * 1000))


def lock_for_all(key: int) -> None:
    """Take, until the end of the transaction, an advisory lock for which everybody waits; bounded as a task's row is.

    Who stood still with it would hold up the whole deployment: every attempt waits for the lock of the stops.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config(%s, %s, true), pg_advisory_xact_lock(%s)",
            [NAME, milliseconds(settings.LEASE_SECONDS), key],
        )
