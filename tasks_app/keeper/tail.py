"""The last lines that a process logged, told to its keeper line by line: a killed process can say nothing more."""

import logging
from contextlib import suppress

from tasks_app.keeper.client import client_here
from tasks_app.record.stored import text_masked

LONGEST = 300  # characters of a line that are kept
LINES = 5


class Tail(logging.Handler):
    """Sends each record's text to this process's keeper. Never fails, never waits."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell one line."""
        with suppress(Exception):  # a record that cannot be written, a keeper that is away
            client_here().note(text_masked(f"{record.levelname} {record.getMessage()}", LONGEST))


def tail_begin(**_: object) -> None:
    """Listen to everything that is logged in this process from now on."""
    root = logging.getLogger()
    if not any(isinstance(handler, Tail) for handler in root.handlers):
        root.addHandler(Tail(logging.INFO))
