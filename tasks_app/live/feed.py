"""What a socket follows, and the feed of pages that follow nothing but their frame."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tasks_app.live.message import Message, Reading


class Feed(Protocol):
    """What a socket follows."""

    def check(self) -> None: ...  # noqa: D102
    def forget(self) -> None: ...  # noqa: D102
    def read(self, after: int) -> Reading: ...  # noqa: D102
    def rest(self) -> list[Message]: ...  # noqa: D102


@dataclass(frozen=True)
class FrameFeed:
    """Nothing of its own to tell: only whether somebody is still signed in."""

    who: Callable[[], object]

    def check(self) -> None:
        """Raise where nobody is signed in any more."""
        self.who()

    def forget(self) -> None:
        """There is nothing to forget."""

    def read(self, after: int) -> Reading:
        """Return nothing."""
        self.who()
        return Reading(messages=[], cursor=0, head=0)

    def rest(self) -> list[Message]:
        """Return nothing."""
        return []
