"""A bound on transactions that stand still: whoever is stopped within one holds its locks, and no lease runs out."""

from django.db.models import Func, TextField, Value


class StandsStill(Func):
    """Let Postgres end this session if it is idle within this transaction for ``seconds``; over with the transaction.

    An expression of a statement that is sent anyway: it costs no round trip.
    """

    function = "set_config"
    output_field = TextField()

    def __init__(self, seconds: float) -> None:
        milliseconds = str(int(seconds * 1000))
        super().__init__(Value("idle_in_transaction_session_timeout"), Value(milliseconds), Value(True))
