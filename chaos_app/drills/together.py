"""One fault of a whole server, met by all cases that wait for it at that moment, each at its own place."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chaos_app.drills.barrier import Hold
from chaos_app.drills.evidence import Mark

WINDOW = 1.0  # seconds in which others may join: less than any call that waits there has left


@dataclass(eq=False)
class _Meeting:
    holds: list[Hold] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    mark: Mark | None = None
    problem: Exception | None = None


class Together:
    """Who comes first waits for a moment, then does it once for all that have come; who comes later has the next."""

    def __init__(self) -> None:
        self._lock, self._doing = threading.Lock(), threading.Lock()
        self._open: _Meeting | None = None

    def meet(self, hold: Hold, do: Callable[[Sequence[Hold]], Mark], meanwhile: Callable[[], None]) -> Mark:
        """Return the mark of the fault that met this place. Raises what went wrong, in every case that waited."""
        with self._lock:
            leads = self._open is None
            meeting = self._open = self._open or _Meeting()
            meeting.holds.append(hold)
        if leads:
            self._lead(meeting, do, meanwhile)
        while not meeting.over.wait(0.05):
            meanwhile()
        if meeting.problem is not None:
            raise meeting.problem
        assert meeting.mark is not None
        return meeting.mark

    def _lead(self, meeting: _Meeting, do: Callable[[Sequence[Hold]], Mark], meanwhile: Callable[[], None]) -> None:
        until = time.monotonic() + WINDOW
        try:
            while time.monotonic() < until:
                meanwhile()
                time.sleep(0.05)
            self._close(meeting)
            with self._doing:
                meeting.mark = do(meeting.holds)
        except Exception as error:
            meeting.problem = error
        finally:
            self._close(meeting)
            meeting.over.set()

    def _close(self, meeting: _Meeting) -> None:
        """Who comes from now on begins another."""
        with self._lock:
            if self._open is meeting:
                self._open = None
