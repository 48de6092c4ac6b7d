"""Looking at processes: proven death by pidfd, stopped by state T, exit codes in words."""

import os
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path


class WatchedProcess:
    """One process. ``fd`` becomes readable when it has died; None where the system has no pidfd."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.fd: int | None = None
        self._known_gone = False
        try:
            self.fd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._known_gone = True
        except (AttributeError, OSError):
            pass  # no pidfd here: a pid that nobody has any more is proof as well, only later

    def gone(self) -> bool:
        """Whether the process has ended for certain, without asking a pidfd."""
        return self._known_gone or (self.fd is None and not exists(self.pid))

    def kill(self) -> None:
        """Send SIGKILL, to this very process where there is a pidfd."""
        with suppress(ProcessLookupError):
            if self.fd is not None:
                signal.pidfd_send_signal(self.fd, signal.SIGKILL)
            elif not self._known_gone:
                os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give the descriptor back."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


def exists(pid: int) -> bool:
    """Whether any process (a zombie as well) has that id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def stopped(pid: int) -> bool:
    """Whether the process is stopped (state T, by a signal or a debugger); False where nobody can say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] in {b"T", b"t"}


def peer_pid(connection: socket.socket) -> int | None:
    """Return the process at the other end, as the kernel knows it; None where it does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def status_text(code: int) -> str:
    """Write an exit code as people read it; negative codes are signals."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
