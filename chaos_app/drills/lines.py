"""JSON lines over a unix socket, between the controller and the processes that it has started."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Lines:
    """One connection. Any thread may say; one thread hears."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.descriptor = connection.fileno()
        self._stream = connection.makefile("rb")
        self._lock = threading.Lock()

    def say(self, **message: Any) -> None:
        """Send a message. Raises OSError where the other side has gone."""
        line = json.dumps(message, default=str).encode() + b"\n"
        with self._lock:
            self._connection.sendall(line)

    def hear(self) -> Iterator[Json]:
        """Yield messages until the other side has gone."""
        with suppress(OSError, ValueError):
            for line in self._stream:
                yield json.loads(line)

    def close(self) -> None:
        """End the connection; whoever hears stops."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        self._connection.close()


def listen(path: Path) -> socket.socket:
    """Return a listening socket at ``path``."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(64)
    return server


def connect(path: str) -> Lines:
    """Connect to a listening socket. Raises OSError."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return Lines(connection)
