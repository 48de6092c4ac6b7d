"""Where keepers listen: one socket a worker, in the private folder of this installation's sockets.

A worker that died together with its keeper leaves its socket behind; the next worker that starts removes it.
"""

import secrets
import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path

NAME, UNFINISHED = "keeper-", "new-"
EGRESS = "egress-"  # the proxy of a sandbox, which a killed worker leaves behind as well
WAY = "way-"  # the folder of a sandbox's way out, likewise; the number of its process follows
YOUNG = 60.0  # seconds in which a socket may still be on its way to its name


def listen(folder: Path) -> tuple[socket.socket, Path]:
    """Bind a socket of our own and listen; returns it with its path. Removes what dead workers left."""
    _remove_left(folder)
    mark = secrets.token_hex(4)
    unfinished, path = folder / f"{UNFINISHED}{mark}", folder / f"{NAME}{mark}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(unfinished))
    listener.listen(128)
    unfinished.rename(path)  # only now: whoever finds this name deaf may remove it
    return listener, path


def deaf_remove(folder: Path, name: str) -> None:
    """Remove the sockets of that kind at which nobody listens any more."""
    for path in folder.glob(f"{name}*"):
        if _is_deaf(path):
            path.unlink(missing_ok=True)


def _remove_left(folder: Path) -> None:
    deaf_remove(folder, NAME)
    deaf_remove(folder, EGRESS)
    _ways_remove(folder)
    for path in folder.glob(f"{UNFINISHED}*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > YOUNG:
                path.unlink()


def _ways_remove(folder: Path) -> None:
    for way in folder.glob(f"{WAY}*"):
        if not Path("/proc", way.name.removeprefix(WAY).partition("-")[0]).exists():
            shutil.rmtree(way, ignore_errors=True)


def _is_deaf(path: Path) -> bool:
    """Whether nobody listens there any more: neither the worker nor its keeper, who share the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
