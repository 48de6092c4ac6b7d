"""A feed of a page's parts: no cursor, each read gives the parts that differ from what was sent last."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from tasks_app.live.message import Message, Reading, Sent, packed

Part = tuple[str, str]  # its key, its HTML


@dataclass(slots=True, kw_only=True)
class PartsFeed[Who]:
    """What all feeds without a cursor share. ``who`` is asked at every read and raises where the right is gone."""

    who: Callable[[], Who]
    _sent: Sent = field(default_factory=Sent)

    def fragments(self, who: Who, /) -> Iterator[Part]:
        """Yield the parts as they are now; each feed has its own."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise where the right is gone."""
        self.who()

    def forget(self) -> None:
        """The page resumes: send everything once."""
        self._sent = Sent()

    def read(self, after: int = 0) -> Reading:
        """Return the parts that changed."""
        changed = self._sent.changed(self.fragments(self.who()))
        messages: list[Message] = [{"html": html} for html in packed(changed)]
        return Reading(messages=messages, cursor=0, head=0)

    def rest(self) -> list[Message]:
        """Return nothing: the parts are told at once."""
        return []


@dataclass(slots=True, kw_only=True)
class SlowPartsFeed[Who](PartsFeed[Who]):
    """Parts that are dear to read: not before ``every`` seconds have passed, and then whatever was hinted meanwhile."""

    every: float = 2.0
    _read_at: float = -inf

    def forget(self) -> None:
        """The page resumes: send everything once, at once."""
        super(SlowPartsFeed, self).forget()
        self._read_at = -inf

    def read(self, after: int = 0) -> Reading:
        """Return the parts that changed; nothing yet where the last read was a moment ago."""
        left = self._read_at + self.every - monotonic()
        if left > 0:
            self.check()
            return Reading(messages=[], cursor=0, head=0, again=left)
        self._read_at = monotonic()
        return super(SlowPartsFeed, self).read(after)
