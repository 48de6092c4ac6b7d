"""What is said between a keeper and its worker: one JSON object a line, over a unix socket in a private folder.

From a process that runs slices: hello, expect, watch, deadline, forget, sandbox,
logged. From the worker's main process: hello,
exited, cause, draining. From the keeper: lost, draining; to the main process: serving. Times are CLOCK_MONOTONIC, which
a host's processes share.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

Message = dict[str, Any]
CHUNK = 65536


def send(connection: socket.socket, *messages: Message) -> None:
    """Write messages; raises OSError where the other side has gone or does not read."""
    connection.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))


class Reader:
    """Cuts what arrives into messages."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""

    def read(self) -> list[Message] | None:
        """Return the messages that have arrived, [] if none is there yet, None at the end of the connection."""
        try:
            data = self._connection.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return list(_parsed(lines))


def _parsed(lines: list[bytes]) -> Iterator[Message]:
    for line in lines:
        with suppress(ValueError):  # not ours; a half-written line of a killed process, for one
            yield json.loads(line)


def connect(path: str) -> socket.socket:
    """Connect to the keeper's socket; raises OSError while nobody listens there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(1.0)
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection
