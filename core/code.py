"""Which code this is: what the deployment calls it, or a digest of its files."""

import hashlib
from functools import cache
from pathlib import Path

from django.apps import apps
from django.conf import settings

SHOWN = 16  # hexadecimal digits


def code_digest() -> str:
    """Return ``HANDRAIL_CODE_DIGEST`` (a git SHA, an image), or else a digest of the packages of this project."""
    return str(settings.CODE_DIGEST) or _of_files()


@cache  # a process keeps the code that it began with
def _of_files() -> str:
    total = hashlib.sha256()
    for package in sorted(Path(app.path) for app in apps.get_app_configs() if Path(app.path).parent == _base()):
        for path in sorted(package.rglob("*.py")):
            total.update(path.relative_to(_base()).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:SHOWN]


def _base() -> Path:
    return Path(settings.BASE_DIR)
