"""Keeps a table of processes running: starts again what dies, prefixes what they print, stops exactly what it started.

Rejected: a process manager that ends everything when one ends, or that leaves everything running when it is killed.
"""

import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from core.embedded.errors import EmbeddedError
from core.output import Output
from core.program import Leftovers, Member, Seat, Service

TICK = 0.2  # seconds between two looks, where nothing wakes us before


class Supervisor:
    """Runs members in two stages: services outlast programs. ``job`` is a program whose end is the end of it all."""

    def __init__(
        self, *, services: Sequence[Service], programs: Sequence[Member], job: Member | None = None, output: Output
    ) -> None:
        self.output = output
        self.job = Seat(job) if job else None
        self.services = [Seat(service, service.process) for service in services]
        self.programs = [Seat(member) for member in programs] + ([self.job] if self.job else [])
        self.code = 0
        self._left = Leftovers()
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._requests = 0

    def stop(self) -> None:
        """Ask for the end (from any thread or signal handler); asked twice, programs are killed instead of asked."""
        self._requests += 1
        with suppress(OSError):
            os.write(self._wake_write, b".")

    def run(self, *, until_ready: Callable[[], bool] = lambda: True, over: Callable[[], bool] = lambda: False) -> int:
        """Keep all members running until stopped; ``until_ready`` is called on each look until it returns True.

        ``over`` is asked on each look as well, and ends it all. Returns the job's exit code, or 0.
        """
        ready = False
        with self._signals():
            while not (self._requests or self.output.broken or over()):
                self._start_due()
                self._look()
                ready = ready or until_ready()
            self._stop_all()
        self._close()
        return self.code

    def _start_due(self) -> None:
        now = time.monotonic()
        for seat in [*self.services, *self.programs]:
            if seat.process is None and seat.due <= now:
                self._start(seat, now)

    def _start(self, seat: Seat, now: float) -> None:
        try:
            process = seat.launch(now)
        except (EmbeddedError, OSError) as error:
            self.output.say(seat.member.name, f"{error} Trying again in {seat.fail(now):.1f} s.")
            return
        self.output.say(seat.member.name, f"started, process {process.pid}")
        if process.stdout is not None:
            self._selector.register(process.stdout, selectors.EVENT_READ, seat.member.name)

    def _look(self) -> None:
        for key, _ in self._selector.select(TICK):
            if key.data is None:
                os.read(self._wake_read, 4096)
            elif not self._read(key):
                self._drop(key)
        self._left.prune()
        for seat in [*self.services, *self.programs]:
            if seat.process is not None and seat.process.poll() is not None:
                self._ended(seat)

    def _read(self, key: selectors.SelectorKey) -> bytes:
        data = os.read(key.fd, 65536)
        self.output.take(key.data, data)
        return data

    def _drop(self, key: selectors.SelectorKey) -> None:
        self._selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]

    def _close(self) -> None:
        """Print what was said last, and let go of every pipe."""
        for key in [key for key in self._selector.get_map().values() if key.data is not None]:
            os.set_blocking(key.fd, False)
            with suppress(BlockingIOError):
                while self._read(key):
                    pass
            self._drop(key)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _ended(self, seat: Seat) -> None:
        assert seat.process is not None
        code, stopping = seat.process.returncode, bool(self._requests)
        self._left.note(seat.process.pid)
        if seat is self.job and not stopping:
            self.code = code if code >= 0 else 128 - code
            seat.process = None
            self.stop()
            return
        delay = seat.fail(time.monotonic())
        again = "" if stopping else f"; starting again in {delay:.1f} s"
        self.output.say(seat.member.name, f"ended ({_how(code)}){again}")

    def _stop_all(self) -> None:
        self._requests = max(self._requests, 1)
        patience = self._requests
        self._stop_stage(self.programs, patience)
        self._left.end()
        for seat in reversed(self.services):
            self._stop_stage([seat], sys.maxsize)  # never in a hurry: a service that is cut off recovers at its start

    def _stop_stage(self, seats: Sequence[Seat], patience: int) -> None:
        while any(seat.process for seat in seats):
            for seat in seats:
                seat.push(time.monotonic(), hurry=self._requests > patience)
            self._look()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let SIGCHLD wake us, and the signals of an end ask for the end; only a main thread may."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(number: int, frame: FrameType | None) -> None:
            self.stop()

        def wake(number: int, frame: FrameType | None) -> None:
            with suppress(BlockingIOError):
                os.write(self._wake_write, b".")

        handlers = {signal.SIGINT: ask, signal.SIGTERM: ask, signal.SIGHUP: ask, signal.SIGCHLD: wake}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
