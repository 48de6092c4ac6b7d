"""Execution tokens: the fencing token of a slice that an agent outside holds, as a secret that only it knows.

The record names the nonce of each slice, so the nonce alone must prove nothing: it is a digest of the secret.
"""

import base64
import hashlib
import hmac
from uuid import UUID

from django.conf import settings

from tasks_app.record.append import Token

PREFIX = "hx_"


def execution_secret(*, task: UUID, name: str, actor: str, use_key: str) -> str:
    """Return the secret of one use. The same use asked again, after a lost answer, has the same one."""
    said = "\x00".join(["gate-use", str(task), name, actor, use_key])
    digest = hmac.new(settings.SECRET_KEY.encode(), said.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def execution_nonce(secret: str) -> UUID:
    """Return the nonce that stands in the record for a secret."""
    return UUID(bytes=hashlib.sha256(secret.encode()).digest()[:16])


def execution_text(*, epoch: int, secret: str) -> str:
    """Write a token as the agent keeps it."""
    return f"{PREFIX}{epoch}_{secret}"


def execution_read(text: str) -> Token | None:
    """Return the fencing token that a text stands for, or None where it is no execution token."""
    epoch, _, secret = text.removeprefix(PREFIX).partition("_")
    if not text.startswith(PREFIX) or not epoch.isdecimal() or not epoch.isascii() or len(epoch) > 18 or not secret:
        return None
    return Token(epoch=int(epoch), nonce=execution_nonce(secret))
