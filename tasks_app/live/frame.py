"""What the frame of every page shows live, beside the page's own content: parts that other applications bring.

The composition root registers them (``core/asgi.py``); they ride on whichever socket the page has.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from tasks_app.live.message import Message
from tasks_app.live.reader import Listener
from tasks_app.live.threads import read_in_thread
from tasks_app.live.together import Together


class FramePart(Protocol):
    """One part, for one reader. ``groups`` and ``read`` raise Withdrawn where nobody is signed in any more."""

    def groups(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def fingerprint(self) -> Callable[[], object]: ...  # noqa: D102
    def forget(self) -> None: ...  # noqa: D102
    def read(self) -> Message | None: ...  # noqa: D102


async def _look(asked: list[Callable[[], object]]) -> list[object | BaseException]:
    return await read_in_thread(_each_once, asked)


def _each_once(asked: list[Callable[[], object]]) -> list[object | BaseException]:
    found = {function: function() for function in set(asked)}
    return [found[function] for function in asked]


# A part's ``fingerprint`` says, for everybody alike, whether its readers can have anything new: while it is the same, a
# hint is about something else; while it is None, so is the clock.
fingerprints: Together[Callable[[], object], object] = Together(_look)
_parts: list[Callable[[Listener], FramePart]] = []


def frame_part_register(make: Callable[[Listener], FramePart]) -> None:
    """Add a part to the frame of every page; ``make`` is called once a socket."""
    _parts.append(make)


def frame_parts(listener: Listener) -> list[FramePart]:
    """Return the parts for one reader."""
    return [make(listener) for make in _parts]
