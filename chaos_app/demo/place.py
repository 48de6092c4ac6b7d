"""Where ``demo --once`` runs: a folder, a database and ports of its own, fresh each time, whatever else runs here."""

import fcntl
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from core.embedded import address

RUN = "HANDRAIL_DEMO_RUN"
# What would lead to somebody else's services, addresses or code.
NOT_OURS = (
    *("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CELERY_BROKER_URL", "PUBLIC_URL"),
    *("HANDRAIL_MODULES", "HANDRAIL_LEASE_SECONDS", "HANDRAIL_DRILL_SOCKET", "ALLOWED_HOSTS"),
    *("HANDRAIL_HEARTBEAT_URL", "EMAIL_URL"),
)


def is_inside() -> bool:
    """Whether this process is a run already."""
    return RUN in os.environ


def enter() -> None:
    """Become a run: the same command in the same process, with an environment of its own. Does not return."""
    parent: Path = settings.VAR_DIR / "demo-once"
    parent.mkdir(parents=True, exist_ok=True)
    _remove_earlier(parent)
    environment = environment_of(os.environ, parent / f"run-{os.getpid()}")
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606


def environment_of(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment of a run in ``folder``. Pure."""
    kept = {name: value for name, value in given.items() if name not in NOT_OURS}
    ours = {RUN: "1", "HANDRAIL_VAR": str(folder), "HANDRAIL_DEMO": "1", "HANDRAIL_MODEL": "scripted"}
    return kept | ours | {"HANDRAIL_ENVIRONMENT": "demo --once"}


def _remove_earlier(parent: Path) -> None:
    for folder in parent.glob("run-*"):
        if _is_left(folder):
            shutil.rmtree(address.run_dir(folder), ignore_errors=True)  # it may lie outside, where the path is long
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether no process holds it any more: a run keeps its folder locked as long as it lives."""
    try:
        with (folder / "up.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
