"""Values of the environment: flags, numbers, words, addresses. What cannot be read is said with an example."""

import os
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from core import lost_hosts


def flag(name: str, default: str = "0") -> bool:
    """Whether it says 1, true, yes or on."""
    return os.environ.get(name, default).lower() in {"1", "true", "yes", "on"}


def words(name: str, default: str = "") -> list[str]:
    """Return the words between its commas."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def number(name: str, default: str) -> float:
    """Return it as a number. Raises ImproperlyConfigured."""
    try:
        return float(os.environ.get(name, default))
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} is {os.environ[name]!r}; it must be a number, for example {default}."
        ) from error


def numbers(name: str, default: str) -> list[float]:
    """Return the numbers between its commas. Raises ImproperlyConfigured."""
    try:
        return [float(word) for word in words(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} must be numbers with commas between them, for example {default}."
        ) from error


def mailer_read(name: str) -> dict[str, Any]:
    """Read ``smtp://user:password@host:587?tls=1``; ``smtps://`` speaks TLS from the first byte."""
    url = urlsplit(os.environ.get(name, "smtp://localhost:25"))
    if url.scheme not in {"smtp", "smtps"} or not url.hostname:
        raise ImproperlyConfigured(f"{name} must be the address of a mail server: smtp://user:password@host:587?tls=1.")
    options: dict[str, Any] = {
        "host": url.hostname,
        "port": url.port or (465 if url.scheme == "smtps" else 25),
        "timeout": 10,
    }
    if url.username:
        options |= {"username": unquote(url.username), "password": unquote(url.password or "")}
    options |= {"use_ssl": True} if url.scheme == "smtps" else {}
    options |= {"use_tls": True} if "tls=1" in url.query else {}
    return {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}


def database_read(name: str, url: str) -> dict[str, Any]:
    """Return Django's settings of a PostgreSQL database. Raises ImproperlyConfigured for any other address."""
    if not url.startswith(("postgres://", "postgresql://")):
        raise ImproperlyConfigured(f"{name} must be the address of a PostgreSQL database: postgresql://user@host/name.")
    parsed: dict[str, Any] = dict(dj_database_url.parse(url))
    options = parsed.setdefault("OPTIONS", {})
    parsed["HOST"] = options.pop("host", parsed["HOST"])  # a unix socket's folder, given as ?host=
    # Hot statements are prepared on first use: round trips and planning dominate an append.
    parsed["OPTIONS"] = lost_hosts.POSTGRES | options | {"prepare_threshold": 0, "connect_timeout": 5}
    most = int(number("HANDRAIL_DATABASE_POOL", "0"))
    if not most:
        return parsed | {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
    # Web processes (core/asgi.py) run each request in a thread of its own; a connection that stayed with its thread
    # would be neither used again nor closed. Times in seconds; after an outage it is back within the second.
    parsed["OPTIONS"]["pool"] = {"min_size": 1, "max_size": most, "timeout": 4.0, "reconnect_timeout": 1.0}
    return parsed | {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}
