"""Direct children that die with their starter, and the identity that Postgres needs where we are root."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

TETHER = Path(__file__).with_name("tether.py")
SAME = "same"
# Signals to end a process with, each with the seconds that it has to work.
Steps = tuple[tuple[signal.Signals, float], ...]


def start(
    command: Sequence[str | Path],
    *,
    on_death: signal.Signals = signal.SIGKILL,
    identity: str = SAME,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``command`` in a process group of its own; the kernel sends it ``on_death`` when we die, however we die.

    The tie is to the calling *thread*: call this from a thread that lives as long as the child should.
    ``output`` takes stdout and stderr together (a file, ``subprocess.PIPE``, or None: ours).
    """
    launcher: list[str | Path] = [sys.executable, "-I", "-S", TETHER, str(os.getpid()), str(int(on_death)), identity]
    program, *arguments = command
    return subprocess.Popen(
        # The whole path: under another uid the launcher may be unable to import what a search needs.
        [*launcher, shutil.which(program) or program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        env=env,
        cwd=cwd,
        bufsize=0,
        process_group=0,
    )


def nobody() -> pwd.struct_passwd:
    """Return an existing account without rights."""
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        return next(entry for entry in pwd.getpwall() if entry.pw_uid != 0)


def unprivileged() -> str:
    """Return the identity for a program that refuses root: ours, or one in a user namespace, or another uid.

    A user namespace keeps every file root's own. Where it is forbidden, the files must be given to the other uid.
    """
    if os.geteuid() != 0:
        return SAME
    account = nobody()
    namespace = f"namespace:{account.pw_uid}"
    if sys.platform == "linux":
        probe = start(["true"], identity=namespace, output=subprocess.DEVNULL)
        if probe.wait() == 0:
            return namespace
    return f"uid:{account.pw_uid}:{account.pw_gid}"


def stop(process: subprocess.Popen[bytes], steps: Steps) -> None:
    """Send each signal in turn, waiting its number of seconds for the end; SIGKILL is the last word."""
    for number, seconds in steps:
        if process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()
