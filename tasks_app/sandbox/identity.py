"""Under which identity a sandbox runs. Where the worker is root, its tools are nobody.

The kernel lets the superuser's number do much even without rights: change its settings under /proc/sys, start any
number of processes. So a root worker makes one user namespace that knows a second, ordinary number, and every
sandbox takes that one before it loads any code.
"""

import os
import subprocess
import sys
from functools import cache

ORDINARY = 65534  # what the host calls it: nobody
INSIDE = 1000
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


def _made() -> int:
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", HELPER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        try:
            _heard(helper.stdout.read(1))
            for name in ("uid_map", "gid_map"):
                with open(f"/proc/{helper.pid}/{name}", "w") as file:
                    file.write(f"0 0 1\n{INSIDE} {ORDINARY} 1\n")
            helper.stdin.write(b".")
            _heard(helper.stdout.read(1))
            return os.open(f"/proc/{helper.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            helper.kill()


def _heard(said: bytes) -> None:
    if not said:
        raise OSError("this system makes no user namespace for root")
