"""Listening for hints: one membership of each group for a whole process, told to every socket that listens here.

A layer that delivers to each socket by itself takes longer over 500 of them than everything else together. Its client
joins again by itself when the layer was away; what was told meanwhile is read by the clock.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from channels.layers import get_channel_layer

log = structlog.get_logger(__name__)
AGAIN_SECONDS = 1.0  # between two tries while it is away
JOINED, JOINED_WITHIN = "joined", 5.0  # a message that tells nobody else anything; seconds until we join anew


def _in_one_line(record: logging.LogRecord) -> bool:
    """Say that the layer is away as we do: its client says so each second, with a whole trace."""
    error = record.exc_info[0] if record.exc_info else None
    log.info("live_hints_away", error=error.__name__ if error else record.getMessage())
    return False


logging.getLogger("channels_redis.pubsub").addFilter(_in_one_line)


@dataclass(eq=False, slots=True)
class _Ear:
    """One socket that listens."""

    changed: Callable[[], None]
    progress: Callable[[str], None]


@dataclass(slots=True)
class _Group:
    """One group of the layer, and who listens to it in this process."""

    name: str
    ears: set[_Ear] = field(default_factory=set)
    joined: bool = False
    task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Listen until this is cancelled; whatever the layer's client raises, pages still read by the clock."""
        while True:
            try:
                await self._listen()
            except Exception as error:
                log.info("live_hints_away", error=type(error).__name__)
                await asyncio.sleep(AGAIN_SECONDS)
            finally:
                self.joined = False

    async def _listen(self) -> None:
        layer = get_channel_layer()
        if layer is None:
            raise RuntimeError("no channel layer is configured")
        await layer.group_send(self.name, {"type": JOINED})  # to a layer that is away nothing is begun
        channel = await layer.new_channel()
        await layer.group_add(self.name, channel)
        try:
            # Joining is asked for, not answered: whoever hears their own word has joined.
            await layer.group_send(self.name, {"type": JOINED})
            async with asyncio.timeout(JOINED_WITHIN):
                while not self.joined:
                    self._take(await layer.receive(channel))
            while True:
                self._take(await layer.receive(channel))
        finally:
            with suppress(Exception):
                async with asyncio.timeout(AGAIN_SECONDS):
                    await layer.group_discard(self.name, channel)

    def _take(self, message: dict[str, object]) -> None:
        if message.get("type") == JOINED:
            if not self.joined:
                self.joined = True
                self._changed()
            return
        if message.get("type") != "progress":
            self._changed()
            return
        for ear in list(self.ears):
            ear.progress(str(message.get("text", "")))

    def _changed(self) -> None:
        for ear in list(self.ears):
            ear.changed()


# By event loop as well: what belongs to one must not be awaited in another.
_groups: dict[tuple[asyncio.AbstractEventLoop, str], _Group] = {}


async def hints_listen(groups: Sequence[str], *, changed: Callable[[], None], progress: Callable[[str], None]) -> None:
    """Call ``changed`` once after each joining and then at each hint, until this is cancelled.

    Join first, then read (case-22): whoever reads on ``changed`` misses nothing. A layer that is away costs hints
    only, never the connection to the browser.
    """
    ear = _Ear(changed, progress)
    for name in groups:
        _join(name, ear)
    try:
        await asyncio.Event().wait()
    finally:
        for name in groups:
            _leave(name, ear)


def _join(name: str, ear: _Ear) -> None:
    loop = asyncio.get_running_loop()
    group = _groups.setdefault((loop, name), _Group(name))
    group.ears.add(ear)
    if group.task is None:
        group.task = loop.create_task(group.run())
    elif group.joined:
        ear.changed()


def _leave(name: str, ear: _Ear) -> None:
    key = (asyncio.get_running_loop(), name)
    group = _groups.get(key)
    if group is None:
        return
    group.ears.discard(ear)
    if not group.ears and group.task is not None:
        group.task.cancel()
        del _groups[key]
