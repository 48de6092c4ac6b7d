"""Under which identity a sandbox runs. Where the worker is root, its tools are nobody.

The kernel lets the superuser's number do much even without rights: change its settings under /proc/sys, start any
number of processes. So a root worker makes one user namespace that knows ordinary numbers, and every sandbox takes one
of them before it loads any code. Not all of them the same: the kernel counts a user's processes over all sandboxes, so
that one which starts as many as it may would keep the others from starting any.
"""

import os
import secrets
import subprocess
import sys
from functools import cache
from typing import IO

from tasks_app.sandbox.pipes import readable

# What the host calls them: numbers that belong to nobody for long (service managers give them out while a service
# runs), or, where a container has fewer, nobody itself.
ORDINARY = ((61184, 4096), (65534, 1))
INSIDE = 1000
PATIENCE = 10.0  # seconds for each step of making it
_given = 1
# Becomes nobody's namespace, lets no further one be made in it, and waits until it has been opened.
HELPER = (
    "import os, sys\n"
    "os.unshare(os.CLONE_NEWUSER)\n"
    "os.write(1, b'.')\n"
    "os.read(0, 1)\n"
    "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n"
    "os.write(1, b'.')\n"
    "os.read(0, 1)\n"
)


@cache
def namespace_of(pid: int) -> int | None:
    """Return a descriptor of the namespace in which a root worker's sandboxes run, made once for process ``pid``.

    None: the worker is an ordinary user (each sandbox makes a namespace of its own), or this system refuses.
    """
    if os.geteuid() != 0 or sys.platform != "linux":
        return None
    try:
        return _made()
    except OSError:
        return None


def identity_new() -> int:
    """Return the number, inside, that one sandbox of a root worker takes."""
    return INSIDE + secrets.randbelow(_given)


def _made() -> int:
    global _given
    for first, count in ORDINARY:
        try:
            descriptor = _mapped(f"0 0 1\n{INSIDE} {first} {count}\n")
        except OSError:
            continue
        _given = count
        return descriptor
    raise OSError("this system makes no user namespace for root")


def _mapped(numbers: str) -> int:
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", HELPER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        try:
            _heard(helper.stdout)
            for name in ("uid_map", "gid_map"):
                with open(f"/proc/{helper.pid}/{name}", "w") as file:
                    file.write(numbers)
            helper.stdin.write(b".")
            _heard(helper.stdout)
            return os.open(f"/proc/{helper.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            helper.kill()


def _heard(said: IO[bytes]) -> None:
    if not readable(said.fileno(), PATIENCE) or not said.read(1):
        raise OSError("this system makes no user namespace for root")
