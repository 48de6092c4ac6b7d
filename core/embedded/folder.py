"""The folder of the embedded services: one owner at a time, room on its disk, a place for sockets and logs."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.embedded import address
from core.embedded.errors import DiskFullError, FolderInUseError, FolderUnusableError

# A new Postgres takes 40 MB, its first log segments 32 MB more; below this it would stop in the middle of starting.
ROOM = 200 * 2**20
LOG_LIMIT = 20 * 2**20


@contextmanager
def claimed(var: Path) -> Iterator[Path]:
    """Hold ``var`` for this process: made where missing, checked, locked until we leave or die.

    Raises FolderInUseError (naming the holder), FolderUnusableError, DiskFullError.
    """
    var = var.resolve()
    _make(var, 0o755)
    try:
        lock = os.open(var / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise FolderUnusableError(var, error.strerror or str(error)) from error
    try:
        _lock(lock, var)
        _check_room(var)
        _make(var / "log", 0o700)
        run = sockets(var)
        yield var
        with suppress(OSError):
            run.rmdir()  # only a folder that is empty: whatever still listens keeps its place
    finally:
        os.close(lock)


def sockets(var: Path) -> Path:
    """Return the private folder of the sockets of ``var``, made where it is missing. Raises FolderUnusableError."""
    run = address.run_dir(var)
    _make(run, 0o700)
    return run


def log_file(var: Path, name: str) -> Path:
    """Return the log of one service; past LOG_LIMIT bytes the old one steps aside as ``NAME.log.1``."""
    path = var / "log" / f"{name}.log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_LIMIT:
            path.replace(path.with_suffix(".log.1"))
    return path


def last_lines(path: Path, count: int = 6) -> str:
    """Return the end of a log, for a message."""
    with suppress(OSError):
        return "\n".join(path.read_text(errors="replace").splitlines()[-count:])
    return "(no log)"


def _make(folder: Path, mode: int) -> None:
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise FolderUnusableError(folder, error.strerror or str(error)) from error
    # A folder under /tmp with a foreseeable name may have been put there by somebody else.
    foreign = os.geteuid() not in (0, found.st_uid)
    if mode == 0o700 and (foreign or not stat.S_ISDIR(found.st_mode)):
        raise FolderUnusableError(folder, "it belongs to another user")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FolderUnusableError(folder, "this user may not write there")


def _lock(lock: int, var: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(lock, 20, 0).strip()
        raise FolderInUseError(var, int(holder) if holder.isdigit() else None) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def _check_room(var: Path) -> None:
    free = shutil.disk_usage(var).free
    if free < ROOM:
        raise DiskFullError(var, free, ROOM)
