"""The keys that seal credentials: the newest seals, every one of them opens, so that keys can be changed in turn."""

import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from core.embedded.address import kept_once
from core.errors import Unavailable

BETWEEN, FORMER = b"\n", 20  # between sealed values, the newest first; how many former ones are kept
FILE = "credential-keys"  # beside the embedded services, where nothing else is given


class CannotOpen(Unavailable):
    """A sealed value fits none of the keys that this process was given."""

    code = "cannot-open"


def sealer() -> MultiFernet:
    """Return what seals and opens. Raises Unavailable, naming the setting, where a key is none."""
    keys = _given()
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as error:
        raise Unavailable(
            "HANDRAIL_CREDENTIAL_KEYS (or its file) holds something that is no key. `manage.py credential key` makes"
            " one; put the newest first and keep the older ones until `manage.py credential reseal` has run."
        ) from error


def seal(value: str, *, after: bytes = b"") -> bytes:
    """Seal a value with the newest key. ``after``: what was sealed there before, kept behind it for ``formers``."""
    kept = [one for one in after.split(BETWEEN) if one and _opened(one) != value]
    return BETWEEN.join([sealer().encrypt(value.encode()), *kept[:FORMER]])


def unseal(sealed: bytes) -> str:
    """Open a sealed value. Raises CannotOpen."""
    try:
        return sealer().decrypt(bytes(sealed).partition(BETWEEN)[0]).decode()
    except InvalidToken as error:
        raise CannotOpen(
            "A credential was sealed with a key that this process was not given. Give it the key that was in use"
            " (HANDRAIL_CREDENTIAL_KEYS), or set the credential again."
        ) from error


def formers(sealed: bytes) -> list[str]:
    """Return the values that it had before, those that can be opened; they may still be good where they are from."""
    return [value for one in bytes(sealed).split(BETWEEN)[1:] if (value := _opened(one)) is not None]


def _opened(sealed: bytes) -> str | None:
    try:
        return unseal(sealed)
    except CannotOpen:
        return None


def reseal(sealed: bytes) -> bytes:
    """Seal anew with the newest key, with those former values that can be opened. Raises CannotOpen."""
    anew = b""
    for value in [*reversed(formers(sealed)), unseal(sealed)]:
        anew = seal(value, after=anew)
    return anew


def key_new() -> str:
    """Return a new key, as the setting takes it."""
    return Fernet.generate_key().decode()


def _given() -> list[str]:
    """Return the keys, the newest first: from the environment, a file, or this folder's own."""
    if settings.HANDRAIL_CREDENTIAL_KEYS:
        return list(settings.HANDRAIL_CREDENTIAL_KEYS)
    path = settings.HANDRAIL_CREDENTIAL_KEYS_FILE
    if path:
        try:
            return Path(path).read_text().split()
        except OSError as error:
            text = f"HANDRAIL_CREDENTIAL_KEYS_FILE names {os.path.basename(path)}, which cannot be read: "
            raise Unavailable(text + str(error.strerror)) from error
    return kept_once(settings.VAR_DIR, FILE, key_new).split()
