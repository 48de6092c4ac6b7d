"""One-time sign-in links: made on the machine, good once and for 15 minutes."""

import os
import secrets
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from core.embedded.address import pages_file
from core.models_sign_in import SignInLink

GOOD_FOR = timedelta(minutes=15)


def _digest(token: str) -> bytes:
    # The token carries 256 random bits: a plain hash is enough, nothing can be guessed from it.
    return sha256(token.encode("utf-8", "replace")).digest()


def _usable(token: str) -> "QuerySet[SignInLink]":
    return SignInLink.objects.filter(
        token_digest=_digest(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True
    )


def pages_url() -> str:
    """Return where people open the pages: PUBLIC_URL, else what the stack that runs here says, else its default."""
    if "PUBLIC_URL" not in os.environ:
        with suppress(OSError):
            return pages_file(settings.VAR_DIR).read_text().strip()
    return str(settings.PUBLIC_URL)


def sign_in_link_create(*, user: AbstractBaseUser, base_url: str = "") -> str:
    """Make a link for ``user`` and return its address, under ``base_url`` (default: where the pages are)."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    fields: dict[str, Any] = {"user": user, "token_digest": _digest(token)}
    SignInLink.objects.create(**fields, created_at=now, expires_at=now + GOOD_FOR)
    return (base_url or pages_url()).rstrip("/") + reverse("sign-in-once", args=[token])


def sign_in_link_find(*, token: str) -> SignInLink | None:
    """Return the link of a token if it can still be used."""
    return _usable(token).select_related("user").first()


def sign_in_link_use(*, token: str) -> Any | None:
    """Use the link up and return its user; None if it is unknown, used, or too old.

    Of two browsers that press the button at once one update finds the row unused; the other changes no row.
    """
    link = sign_in_link_find(token=token)
    if link is None:
        return None
    now = timezone.now()
    # Conditions on this table only: a join would become a subquery, which the loser, once it has waited for the
    # winner's row, would still see as it was before.
    unused = SignInLink.objects.filter(pk=link.pk, used_at=None, expires_at__gt=now)
    return link.user if unused.update(used_at=now) else None
