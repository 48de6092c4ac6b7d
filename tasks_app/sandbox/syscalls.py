"""The filter of system calls that every sandbox runs behind: what namespaces do not part, or would let in anew.

Namespaces leave some of the kernel in common: keyrings (one call could leave something for another there), sockets to
the machine below a virtual one (AF_VSOCK knows no network namespaces), and much that is seldom asked for and often
broken (io_uring, BPF, userfaultfd). Further namespaces inside would give a tool rights of its own. Pure.
"""

import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

NOT_PERMITTED, NOT_THERE, NO_SUCH_FAMILY = 1, 38, 97  # EPERM, ENOSYS, EAFNOSUPPORT
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
NAMESPACES = 0x7E020000  # every CLONE_NEW* that clone takes
FOREIGN_TABLE = 0x40000000  # numbers of x86-64's second table, which would lead past the ones below

# struct seccomp_data, low halves: both architectures are little-endian.
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16
LOAD, EQUAL, AT_LEAST, ANY_BIT, END = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers of one architecture. ``refused``: calls that fail as not permitted."""

    architecture: int
    clone: int
    sockets: tuple[int, int]  # socket, socketpair
    hidden: tuple[int, int]  # memfd_create, shmget: memory that is no process's own
    refused: tuple[int, ...]


CLONE3 = 435  # its flags lie where no filter can read them; without it, libraries use clone
# io_uring_*, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, mount_setattr, memfd_secret,
# open_tree_attr: newer calls have one number everywhere.
NEWER = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447, 467)
TABLES = {
    "x86_64": Table(
        architecture=0xC000003E,
        clone=56,
        sockets=(41, 53),
        hidden=(319, 29),
        refused=(
            *(248, 249, 250),  # add_key, request_key, keyctl
            *(101, 310, 311, 312),  # ptrace, process_vm_readv, process_vm_writev, kcmp
            *(321, 298, 323),  # bpf, perf_event_open, userfaultfd
            *(165, 166, 155, 161, 308, 272),  # mount, umount2, pivot_root, chroot, setns, unshare
            *(246, 320, 175, 313, 176),  # kexec_load, kexec_file_load, init_module, finit_module, delete_module
            *(169, 167, 168, 163, 179, 443),  # reboot, swapon, swapoff, acct, quotactl, quotactl_fd
            *(164, 227, 159, 305),  # settimeofday, clock_settime, adjtimex, clock_adjtime
            *(170, 171, 103, 172, 173, 153),  # sethostname, setdomainname, syslog, iopl, ioperm, vhangup
            *(303, 304, 300, 212),  # name_to_handle_at, open_by_handle_at, fanotify_init, lookup_dcookie
            *(154, 134),  # modify_ldt, uselib
        ),
    ),
    "aarch64": Table(
        architecture=0xC00000B7,
        clone=220,
        sockets=(198, 199),
        hidden=(279, 194),
        refused=(
            *(217, 218, 219),
            *(117, 270, 271, 272),
            *(280, 241, 282),
            *(40, 39, 41, 51, 268, 97),
            *(104, 294, 105, 273, 106),
            *(142, 224, 225, 89, 60, 443),
            *(170, 112, 171, 266),
            *(161, 162, 116, 58),
            *(264, 265, 262, 18),
        ),
    ),
}


def filter_here(*, counted: bool = True) -> bytes | None:
    """Return the filter for this machine's processor, or None: its numbers are not known here.

    ``counted``: all memory is, by a control group; otherwise only what a process has of its own may be had.
    """
    table = TABLES.get(platform.machine())
    return None if table is None else filter_of(table, counted=counted)


def filter_of(table: Table, *, counted: bool = True) -> bytes:
    """Return the filter as the kernel takes it (an array of struct sock_filter)."""
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, table.architecture, skip_if=1),
        _end(FAIL | NOT_THERE),
        _step(LOAD, NUMBER),
        *_when(AT_LEAST, FOREIGN_TABLE, FAIL | NOT_THERE),
        *_when(EQUAL, CLONE3, FAIL | NOT_THERE),
    ]
    for number in (*table.refused, *NEWER, *(() if counted else table.hidden)):
        steps += _when(EQUAL, number, FAIL | NOT_PERMITTED)
    steps += _asked(table.clone, _when(ANY_BIT, NAMESPACES, FAIL | NOT_PERMITTED), ALLOW)
    families = [step for one in (UNIX, INET, INET6, NETLINK) for step in _when(EQUAL, one, ALLOW)]
    for number in table.sockets:
        steps += _asked(number, families, FAIL | NO_SUCH_FAMILY)
    return b"".join([*steps, _end(ALLOW)])


def _asked(number: int, tests: Sequence[bytes], otherwise: int) -> list[bytes]:
    """Test the first argument of one call."""
    inner = [_step(LOAD, FIRST), *tests, _end(otherwise)]
    return [_step(EQUAL, number, skip_unless=len(inner)), *inner]


def _when(test: int, value: int, action: int) -> list[bytes]:
    return [_step(test, value, skip_unless=1), _end(action)]


def _end(action: int) -> bytes:
    return _step(END, action)


def _step(code: int, value: int, *, skip_if: int = 0, skip_unless: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)
