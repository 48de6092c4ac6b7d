"""The drill's sweepers: one that ends is started again, as in operation, except while a case wants none."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chaos_app.drills.helpers import Helper, Ticket

LOOK = 0.2  # seconds


class Sweepers:
    """Orders to the people's process, each of them a sweeper that runs until it dies. ``close`` keeps no more."""

    def __init__(self, people: Helper, **place: str) -> None:
        self._people, self._place = people, place
        self._kept: list[Ticket] = []
        self._lock = threading.Lock()
        self._over, self._paused = threading.Event(), threading.Event()
        self.more(1)
        threading.Thread(target=self._keep, name="sweepers", daemon=True).start()

    def more(self, count: int) -> list[Ticket]:
        """Start so many more; each is kept until ``fewer``."""
        made = [self._people.order("sweep", **self._place) for _ in range(count)]
        with self._lock:
            self._kept += made
        return made

    def fewer(self, tickets: list[Ticket]) -> None:
        """Keep these no longer; whoever takes them away ends them."""
        with self._lock:
            self._kept = [one for one in self._kept if one not in tickets]

    @property
    def living(self) -> list[Ticket]:
        """Return those that run."""
        with self._lock:
            return [one for one in self._kept if "ended" not in one.stages]

    def of(self, pid: int) -> Ticket | None:
        """Return the sweeper with this process."""
        with self._lock:
            return next((one for one in self._kept if one.stages.get("forked", {}).get("pid") == pid), None)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Start none again until the block ends."""
        self._paused.set()
        try:
            yield
        finally:
            self._paused.clear()

    def close(self) -> None:
        """Keep no more."""
        self._over.set()

    def _keep(self) -> None:
        while not self._over.wait(LOOK):
            if self._paused.is_set():
                continue
            with self._lock:
                ended = [one for one in self._kept if "ended" in one.stages]
            self.fewer(ended)
            self.more(len(ended)) if ended else None
