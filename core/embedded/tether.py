"""Becomes another program that ends when its starter ends: ``tether.py STARTER SIGNAL IDENTITY COMMAND...``.

Run as a script between fork and exec, because the same steps as a ``preexec_fn`` are unsafe in a process with threads.
The kernel sends SIGNAL when the *thread* that started this process ends; on systems without that call nothing is sent.

IDENTITY is ``same``, ``namespace:UID`` (a user namespace in which root appears as UID) or ``uid:UID:GID``.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def enter_namespace(uid: int) -> None:
    """Move into a user namespace in which the present user appears as ``uid``, without any right over others."""
    user, group = os.geteuid(), os.getegid()
    os.unshare(os.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {user} 1"), ("gid_map", f"{uid} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def take_identity(identity: str) -> None:
    """Change to the user that IDENTITY names."""
    kind, *numbers = identity.split(":")
    if kind == "namespace":
        enter_namespace(int(numbers[0]))
    elif kind == "uid":
        os.setgroups([])
        os.setgid(int(numbers[1]))
        os.setuid(int(numbers[0]))


def end_with(starter: int, number: int) -> None:
    """Ask for signal ``number`` at the starter's end. After the change of identity: that change clears the request."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != starter:  # it ended before we could ask
        sys.exit(1)


def main(starter: str, number: str, identity: str, *command: str) -> None:
    """Take the identity, tie this process to its starter, become the command."""
    take_identity(identity)
    end_with(int(starter), int(number))
    for name in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python itself, and exec would pass that on
        signal.signal(name, signal.SIG_DFL)
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main(*sys.argv[1:])
