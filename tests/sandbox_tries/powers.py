"""What a tool tries to do to other processes and to its own rights."""

import ctypes
import errno
import os
import platform
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from tests.sandbox_tries.amounts import fork_bomb
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


def system_calls(args: Try) -> Any:
    """Ask the kernel for what namespaces do not part, by number; return what went wrong with each."""
    intel = platform.machine() == "x86_64"
    numbers = {
        "keyctl": 250 if intel else 219,
        "add_key": 248 if intel else 217,
        "ptrace": 101 if intel else 117,
        "process_vm_readv": 310 if intel else 270,
        "bpf": 321 if intel else 280,
        "perf_event_open": 298 if intel else 241,
        "userfaultfd": 323 if intel else 282,
        "io_uring_setup": 425,
        "unshare": 272 if intel else 97,
        "setns": 308 if intel else 268,
        "clone": 56 if intel else 220,
        "clone3": 435,
        "mount": 165 if intel else 40,
        "fsopen": 430,
        "pidfd_getfd": 438,
    }
    libc = ctypes.CDLL(None, use_errno=True)
    said = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        first = 0x10000000 | signal.SIGCHLD if name == "clone" else 0x10000000 if name == "unshare" else 0
        gave = libc.syscall(number, first, 0, 0, 0, 0)
        if name == "clone" and gave == 0:
            os._exit(0)
        said[name] = errno.errorcode.get(ctypes.get_errno(), "done") if gave < 0 else "done"
    return said


def keyring(args: Try) -> Any:
    """Leave a word in the keyring of this user, or find the one that another call has left."""
    intel = platform.machine() == "x86_64"
    libc = ctypes.CDLL(None, use_errno=True)
    if args.word:
        word = args.word.encode()
        gave = libc.syscall(248 if intel else 217, b"user", b"left-by-a-sandbox", word, len(word), -4)
    else:
        gave = libc.syscall(250 if intel else 219, 10, -4, b"user", b"left-by-a-sandbox", 0)
    return gave >= 0


def groups(args: Try) -> Any:
    return os.getgroups()


def crowd(args: Try) -> Any:
    """Start as many as may be, and hold them for a while."""
    started = fork_bomb(args)
    ctypes.CDLL(None).prctl(15, b"hanging")
    time.sleep(args.number)
    return started


def child(args: Try) -> Any:
    """Start one process and one thread."""
    threading.Thread(target=time.sleep, args=(0.01,)).start()
    return subprocess.run(["/bin/true"], check=False).returncode
