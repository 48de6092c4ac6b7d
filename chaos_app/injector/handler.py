"""The side of the spawned process: at each crossing, ask over a connection of one's own, and wait for the answer.

Nothing is installed unless the environment names a controller's socket. A controller that has gone stops nobody.
"""

import os
import socket
import threading
from typing import BinaryIO

from chaos_app.injector import wrong_clock
from chaos_app.injector.report import CLOCK, GO, RAISE, SOCKET, Report
from core.boundaries import Crossing, install


class RaisedByDrill(Exception):
    """What a drill raises at a place: an error that no code of ours knows."""


class Asker:
    """One connection for each thread of each process: a forked child must not speak on its parent's."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._mine = threading.local()

    def __call__(self, crossing: Crossing) -> None:
        """Report a crossing; return when told to go on. Whoever is to die here is killed while it waits."""
        wrong_clock.right_again(unless=crossing.task)
        answer = self._ask(crossing)
        if answer.startswith(CLOCK):
            wrong_clock.ahead(float(answer.removeprefix(CLOCK)), task=crossing.task)
        if answer != GO and answer:
            self._ask(crossing)  # tells that it was understood, and how late it is now
        if answer == RAISE:
            raise RaisedByDrill(f"raised at {crossing.boundary} {crossing.position}")

    def _ask(self, crossing: Crossing) -> bytes:
        report = Report.of(crossing, pid=os.getpid(), parent=os.getppid())
        try:
            stream = self._stream()
            stream.write(report.line())
            stream.flush()
            return stream.readline()
        except OSError:
            self._mine.pid = None  # the next crossing connects anew
            return b""

    def _stream(self) -> BinaryIO:
        if getattr(self._mine, "pid", None) != os.getpid():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self._path)
            self._mine.stream = connection.makefile("rwb")
            connection.close()  # the stream holds it open
            self._mine.pid = os.getpid()
        stream: BinaryIO = self._mine.stream
        return stream


def injector_install() -> None:
    """Install the handler in this process and in those that it forks, if the environment names a controller."""
    path = os.environ.get(SOCKET)
    if path:
        install(Asker(path))
