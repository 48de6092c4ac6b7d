"""When a session last showed a second factor: from the record that the sign-in keeps in it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

METHODS = "account_authentication_methods"  # where allauth keeps how and when a session authenticated


def stepped_up_at(request: HttpRequest) -> datetime | None:
    """Return when this session last showed a second factor (one-time code or passkey), or None."""
    shown = [at for one in request.session.get(METHODS, []) if (at := _moment(one)) is not None]
    return max(shown, default=None)


def _moment(entry: Mapping[str, Any]) -> datetime | None:
    if entry.get("method") != "mfa" or not isinstance(entry.get("at"), int | float):
        return None
    return datetime.fromtimestamp(entry["at"], UTC)
