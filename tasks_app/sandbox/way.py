"""The way out of a sandbox that has a network: an empty folder, into which the proxy's socket is put for its call."""

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from tasks_app.keeper.place import WAY


def way_make(parent: str) -> Path:
    """Make an empty folder, named after this process, so that others can tell when nobody needs it any more."""
    folder = Path(parent, f"{WAY}{os.getpid()}-{secrets.token_hex(6)}")
    folder.mkdir()
    folder.chmod(0o711)  # its parent is private; inside, it is passed through by nobody's number
    return folder


def way_open(folder: Path, socket: str, name: str) -> None:
    """Put the proxy's socket there: from now on there is a way out. Raises OSError."""
    os.rename(socket, folder / name)


def way_remove(folder: Path) -> None:
    """Take it away."""
    with suppress(OSError):
        shutil.rmtree(folder)
