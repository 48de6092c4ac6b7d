"""Bearer tokens: the secret is random, shown once, and kept as a hash."""

import secrets
from datetime import timedelta

from django.db.models import F, Q

from core.clock import ClockTimestamp
from core.errors import Unauthenticated
from core.models import ApiToken

PREFIX = "hr_"
HINT = 10  # characters of the secret that stay visible, to recognise it by
USED_AGAIN = timedelta(minutes=1)  # "last used" is written at most this often


def secret_create() -> str:
    """Return a new secret of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def token_find(*, secret: str) -> ApiToken:
    """Return the valid token of that secret, by the database's clock.

    Raises Unauthenticated: unknown, expired, revoked, or its user is not active; the answer does not say which.
    """
    found = (
        ApiToken.objects.select_related("user", "workspace")
        .annotate(now=ClockTimestamp())
        .filter(
            digest=ApiToken.digest_of(secret),
            revoked_at=None,
            expires_at__gt=F("now"),
            user__is_active=True,
        )
        .first()
    )
    if found is None:
        raise Unauthenticated("This bearer token is unknown, expired or revoked; make a new one.")
    if found.last_used_at is None or found.now - found.last_used_at >= USED_AGAIN:
        _used(found)
    return found


def _used(token: ApiToken) -> None:
    # Conditional: of many requests at once that saw it due, one writes.
    due = Q(last_used_at=None) | Q(last_used_at__lt=ClockTimestamp() - USED_AGAIN)
    ApiToken.objects.filter(due, pk=token.pk).update(last_used_at=ClockTimestamp())
