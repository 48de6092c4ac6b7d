"""Where the embedded services listen, and the secret key of this folder."""

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from core.embedded.errors import FolderUnusableError, KeyEmptyError

# A unix socket path holds 107 bytes; the longest name we put into the folder takes 20.
LONGEST_FOLDER = 85
# Postgres takes a list of folders parted by commas, and the addresses are URLs: other characters need a plain path.
PLAIN = re.compile(r"[\w./+@-]+", re.ASCII)


def run_dir(var: Path) -> Path:
    """Return the folder of the sockets: ``var/run``, or a private short one where that path is too long or not plain.

    The answer depends on nothing but ``var`` and the user: every process of this folder must come to the same.
    """
    plain = var.resolve() / "run"
    if len(os.fsencode(plain)) <= LONGEST_FOLDER and PLAIN.fullmatch(str(plain)):
        return plain
    name = hashlib.sha256(os.fsencode(plain)).hexdigest()[:12]
    return Path("/tmp") / f"handrail-{os.getuid()}-{name}"  # noqa: S108 - mode 0700 and its owner checked by folder.py


def database_url(var: Path) -> str:
    """Return the URL of the embedded Postgres of ``var``."""
    return f"postgresql://handrail@/handrail?host={quote(str(run_dir(var)), safe='/')}"


def redis_url(var: Path) -> str:
    """Return the URL of the embedded Valkey of ``var`` (a unix socket)."""
    return f"unix://{run_dir(var)}/valkey.sock"


def pages_file(var: Path) -> Path:
    """Return the file in which a running stack keeps the address of its pages."""
    return var / "address"


def celery_broker_url(url: str) -> str:
    """Translate a Redis URL into Celery's spelling (``redis+socket`` and ``virtual_host`` for a unix socket)."""
    if not url.startswith("unix://"):
        return url
    return url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)


def channels_url(url: str) -> str:
    """Return the Redis URL as the channel layer takes it (redis-py's spelling)."""
    return url


def secret_key(var: Path) -> str:
    """Return this folder's secret key, made once with mode 0600; two starters at once agree on one.

    Raises FolderUnusableError, KeyEmptyError.
    """
    return kept_once(var, "secret-key", lambda: secrets.token_urlsafe(48))


def kept_once(var: Path, name: str, make: Callable[[], str]) -> str:
    """Return the text of a file of this folder, made once with mode 0600. Raises FolderUnusableError, KeyEmptyError."""
    path = var / name
    try:
        if not path.exists():
            var.mkdir(parents=True, exist_ok=True)
            _write_once(path, make())
        text = path.read_text()
    except OSError as error:
        raise FolderUnusableError(var, error.strerror or str(error)) from error
    if not text.strip():
        raise KeyEmptyError(path)
    return text


def _write_once(path: Path, text: str) -> None:
    """Give a whole file its name in one step: a reader never sees half of it, and the second writer changes nothing.

    It is on the disk before it has its name, and its name before anybody uses it: what is sealed with a key that a
    power loss takes could never be read again.
    """
    handle, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
