"""The folder of a test run: removed at its end, and by the next run where this one was killed."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "handrail-test-"
HELD: list[int] = []  # for as long as this process lives


def test_folder() -> Path:
    """Make a folder that says by a lock that its run lives, and remove those of runs that were killed."""
    remove_left(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder / "lives", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    HELD.append(lock)
    return folder


def remove_left(parent: Path) -> None:
    """Remove the folders whose run has ended without removing them."""
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if not _lives(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def _lives(folder: Path) -> bool:
    try:
        lock = os.open(folder / "lives", os.O_RDWR)
    except FileNotFoundError:  # not locked yet, or not by us: nothing to judge by
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
