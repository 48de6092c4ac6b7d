"""Answering those who ask at a crossing: one thread a connection, one answer a report."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from chaos_app.injector.report import GO, Report


def reports_answer(server: socket.socket, take: Callable[[Report], bytes | None], *, name: str) -> None:
    """Answer in threads until ``server`` is closed; ``take`` returns when it may go on: the answer (None: go on)."""
    threading.Thread(target=_accept, args=[server, take], name=name, daemon=True).start()


def _accept(server: socket.socket, take: Callable[[Report], bytes | None]) -> None:
    with suppress(OSError):  # closed
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_serve, args=[connection, take], daemon=True).start()


def _serve(connection: socket.socket, take: Callable[[Report], bytes | None]) -> None:
    with suppress(OSError, ValueError), connection, connection.makefile("rwb") as stream:
        for line in stream:
            stream.write(take(Report.read(line)) or GO)
            stream.flush()
