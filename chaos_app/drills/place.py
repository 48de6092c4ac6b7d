"""Where a drill runs: a folder, servers and an environment of its own; and what an earlier one has left there."""

import fcntl
import itertools
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from chaos_app.drills.limits import LEASE

RUN = "HANDRAIL_DRILL_RUN"
HOME = "HANDRAIL_DRILL_HOME"  # what was set before, as JSON: where results may be stored afterwards
MODULES = "chaos_app.drills.agents,chaos_app.drills.shorter"
LOCK = "controller.lock"
YOUNG = 10.0  # seconds
NOT_OURS = (
    *("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CELERY_BROKER_URL", "PUBLIC_URL", "HANDRAIL_VAR"),
    *("HANDRAIL_MODULES", "HANDRAIL_LEASE_SECONDS", "HANDRAIL_DRILL_SOCKET", "ALLOWED_HOSTS", "HANDRAIL_DEMO"),
    *("HANDRAIL_WORLD_URL", "HANDRAIL_WORLD_SMTP", "HANDRAIL_DATABASE_POOL", "HANDRAIL_STALLS"),
    *("HANDRAIL_HEARTBEAT_URL", "EMAIL_URL"),  # a drill must neither hide a silence nor write to people
)
# A drill starts dozens of processes: each would compile all that it imports, for seconds.
SLOW = ("PYTHONDONTWRITEBYTECODE",)


def is_inside() -> bool:
    """Whether this process is a drill's controller already."""
    return RUN in os.environ


def enter(modules: str = "", name: str = "") -> None:
    """Become a drill's controller: the same command in the same process, in a place of its own. Does not return.

    ``name``: of its folder, where somebody waits to find it there; it must not be there yet.
    """
    folder = _folder(settings.VAR_DIR / "drills", name)
    lock = os.open(folder / f".{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / f".{LOCK}").rename(folder / LOCK)  # whoever finds it there finds it held
    os.set_inheritable(lock, True)  # held by this process, whatever it runs, until it ends; its children never have it
    environment = environment_of(os.environ, folder, modules)
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606


def _folder(parent: Path, name: str) -> Path:
    """Make a folder of this process's own: an earlier process of the same number may have left one."""
    parent.mkdir(parents=True, exist_ok=True)
    if name:
        (parent / name).mkdir()
        return parent / name
    names = itertools.chain([f"run-{os.getpid()}"], (f"run-{os.getpid()}-{n}" for n in itertools.count(2)))
    for name in names:
        with suppress(FileExistsError):
            (parent / name).mkdir()
            return parent / name
    raise AssertionError("unreachable")


def environment_of(given: Mapping[str, str], folder: Path, modules: str = "") -> dict[str, str]:
    """Return the environment of a drill in ``folder``. Pure."""
    home = {name: given[name] for name in NOT_OURS if name in given}
    kept = {name: value for name, value in given.items() if name not in (*NOT_OURS, *SLOW)}
    carried = ",".join(part for part in (MODULES, given.get("HANDRAIL_MODULES", ""), modules) if part)
    ours = {RUN: folder.name, HOME: json.dumps(home), "HANDRAIL_VAR": str(folder), "HANDRAIL_MODULES": carried}
    ours |= {"HANDRAIL_LEASE_SECONDS": str(LEASE), "HANDRAIL_MODEL": "scripted", "HANDRAIL_ENVIRONMENT": "drill"}
    return kept | ours


def leftovers(parent: Path) -> list[Path]:
    """Return the folders of drills that ended without cleaning up: no process holds them any more."""
    return [folder for folder in sorted(parent.glob("run-*")) if folder.is_dir() and _is_left(folder)]


def clean(parent: Path) -> list[str]:
    """Remove what earlier drills have left; return a sentence for each."""
    said = []
    for folder in leftovers(parent):
        for name in ("postgres", "run", "world", "target", "log", "sockets"):
            shutil.rmtree(folder / name, ignore_errors=True)
        if not (folder / "evidence").exists():
            shutil.rmtree(folder, ignore_errors=True)
        said.append(f"An earlier drill ({folder.name}) ended before it could clean up; what it had left was removed.")
        (folder / "cleaned").touch() if folder.exists() else None
    return said


def _is_left(folder: Path) -> bool:
    return not (folder / "cleaned").exists() and is_held(folder) is False


def is_held(folder: Path) -> bool | None:
    """Whether a controller has this folder, or is just making it; None where it is not here, or nobody can tell.

    A process id says less: another process may have it by now, and a zombie keeps it.
    """
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who look at once do not see each other
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return time.time() - folder.stat().st_mtime <= YOUNG
        return None
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


@contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Remove the servers' data at the end; evidence stays."""
    try:
        yield
    finally:
        for name in ("postgres", "run", "world", "target"):
            shutil.rmtree(folder / name, ignore_errors=True)
        if folder.exists():
            (folder / "cleaned").touch()
