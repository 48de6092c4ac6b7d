"""What a tool uses to reach the outside: connections that are cut at the call's deadline."""

import ssl
import time
from functools import cache

import httpx

from tasks_app.contracts import CallContext
from tasks_app.runtime.watchdog import cut_at_deadline

__all__ = ["cut_at_deadline", "http_client", "looking_client", "seconds_left"]


def http_client(context: CallContext, *, base_url: str = "") -> httpx.Client:
    """Return an HTTP client for one call: no retries of its own, cut at the deadline, with the call's headers.

    With a base URL of plain HTTP it trusts no certificate, so that it cannot go on to HTTPS.
    """
    left, headers = seconds_left(context), context.headers()
    client = httpx.Client(base_url=base_url, timeout=left, headers=headers, verify=_trust(base_url))
    cut_at_deadline(client)
    return client


def seconds_left(context: CallContext) -> float:
    """Return how long a call may still take, for what has timeouts of its own."""
    return max(context.deadline - time.monotonic(), 0.1)


def looking_client(*, base_url: str = "", timeout: float = 5.0) -> httpx.Client:
    """Return an HTTP client for look-ups and read-backs (``timeout`` in seconds); it trusts as the other one does."""
    return httpx.Client(base_url=base_url, timeout=timeout, verify=_trust(base_url))


def _trust(base_url: str) -> ssl.SSLContext:
    """Return what a client trusts. A sandbox reads the certificates for its one call: not where none is looked at."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if base_url.startswith("http://") else _certificates()


@cache
def _certificates() -> ssl.SSLContext:
    """Read the trusted certificates once: each client reading them anew takes most of a short call's time."""
    return httpx.create_ssl_context()
