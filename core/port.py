"""The port of the pages on this machine."""

import socket
import time

from core.embedded.errors import EmbeddedError

HOST = "127.0.0.1"


class PortInUseError(EmbeddedError):
    """Another program listens where the pages should be."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __str__(self) -> str:
        return (
            f"Port {self.port} on this machine is in use by another program; nothing was started. "
            f"Choose another with --port, for example --port {self.port + 1}."
        )


def free(port: int, seconds: float = 1.0) -> int:
    """Return the port if we may listen on it (0: one that is free), waiting a moment for an earlier run to leave it.

    Raises PortInUseError. The name localhost may lead to either address family, so both must be free.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            chosen = _bind(socket.AF_INET, HOST, port)
            if socket.has_ipv6:
                _bind(socket.AF_INET6, "::1", chosen)
            return chosen
        except OSError as error:
            if time.monotonic() > until:
                raise PortInUseError(port) from error
            time.sleep(0.05)


def _bind(family: socket.AddressFamily, host: str, port: int) -> int:
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            if family == socket.AF_INET6 and not _has_loopback6():
                return port
            raise
        return int(probe.getsockname()[1])


def _has_loopback6() -> bool:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
    return True
