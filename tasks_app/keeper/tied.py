"""A pool process ends with its worker, also where the worker was killed while it forked.

The pool asks the kernel for that, too, and does not look whether its worker has gone in between: such a process then
waited for ever on a pipe whose other end its siblings hold.
"""

import signal

from core.embedded.tether import end_with


class _Worker:
    pid = 0


def tied_to(pid: int) -> None:
    """Note the worker's main process, before it forks."""
    _Worker.pid = pid


def tie(**_: object) -> None:
    """Ask, in a process of a pool, to be killed at its worker's end; end at once where it has ended already."""
    end_with(_Worker.pid, signal.SIGKILL)
