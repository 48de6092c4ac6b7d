"""What a tool tries to do to other processes and to its own rights."""

import ctypes
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.sandbox_tries.trying import Try


def processes(args: Try) -> Any:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found[name] = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:60]
    return found


def kill(args: Try) -> Any:
    """Try to signal a process of the host by its number there, and everything."""
    said = {}
    for pid in (args.number, os.getppid()):
        try:
            os.kill(pid, signal.SIGKILL)
            said[str(pid)] = "sent"
        except OSError as error:
            said[str(pid)] = type(error).__name__
    return said


def privileges(args: Try) -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    status = Path("/proc/self/status").read_text().split("\n")
    wanted = ("CapEff", "CapPrm", "NoNewPrivs")
    said: dict[str, Any] = {line.split(":")[0]: line.split()[1] for line in status if line.startswith(wanted)}
    said["user"] = os.getuid()
    try:
        os.setuid(0)
        said["superuser"] = "taken"
    except OSError:
        said["superuser"] = "refused"
    said["mount"] = libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
    said["userns"] = libc.unshare(0x10000000)
    said["hostname"] = libc.sethostname(b"mine", 4)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        said["limit"] = "raised"
    except (ValueError, OSError):
        said["limit"] = "refused"
    try:
        limit = Path("/proc/sys/kernel/printk_ratelimit")
        limit.write_text(limit.read_text())
        said["kernel"] = "written"
    except OSError as error:
        said["kernel"] = error.strerror
    return said


def outlive(args: Try) -> Any:
    """Leave something running behind: a child in a session of its own that has let go of everything."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(256):
                try:
                    os.close(descriptor)
                except OSError:
                    continue
            time.sleep(60)
            os._exit(0)
        os._exit(0)
    return "left"


def shell(args: Try) -> Any:
    return subprocess.run(["/bin/sh", "-c", args.word], capture_output=True, text=True, check=False).stdout
