"""What each process counts about itself: HTTP answers, appends, takeovers, open sockets, hints that wait.

Counted by prometheus_client, whose own way for several processes is a folder named by ``PROMETHEUS_MULTIPROC_DIR``:
every process of a host writes there, whichever web process is asked adds them up. Nothing is imported or counted
before ``metrics_begin``: a keeper, which must start at once, never begins.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.instruments import Instruments

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_here: "Instruments | None" = None


def metrics_begin() -> None:
    """Begin to count in this process and in those that it forks."""
    global _here
    if _here is not None:
        return
    with suppress(KeyError):
        Path(os.environ[FOLDER]).mkdir(parents=True, exist_ok=True)
    from core.instruments import Instruments

    _here = Instruments()


def metrics_begin_shared() -> None:
    """Begin where somebody can read it: a process without pages needs the common folder."""
    if os.environ.get(FOLDER):
        metrics_begin()


def append_took(seconds: float) -> None:
    """Note one append to a record."""
    if _here is not None:
        _here.append.observe(seconds)


def takeover_took(seconds: float) -> None:
    """Note that a lost task was claimed again, so long after its loss was recorded."""
    if _here is not None:
        _here.takeover.observe(seconds)


def answer_took(seconds: float, *, method: str, route: str, status: int) -> None:
    """Note one HTTP answer; ``route`` is the pattern of the address, never the address itself."""
    if _here is not None:
        _here.answers.labels(method, route, str(status)).inc()
        _here.answer.labels(route).observe(seconds)


def socket_opened(change: int) -> None:
    """Note that a live socket was opened (1) or closed (-1)."""
    if _here is not None:
        _here.sockets.inc(change)


def pushed(seconds: float) -> None:
    """Note how long after their commit the newest events of a frame left for the browser."""
    if _here is not None:
        _here.push.observe(seconds)


def hints_wait(count: int) -> None:
    """Note how many live hints wait in this process to be sent."""
    if _here is not None:
        _here.hints.set(count)


def hints_lost(count: int) -> None:
    """Note live hints that could not be sent."""
    if _here is not None:
        _here.lost_hints.inc(count)
