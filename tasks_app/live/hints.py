"""Listening for hints: joining a group of the layer, and joining again whenever the layer was away."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog
from channels.layers import get_channel_layer

log = structlog.get_logger(__name__)
AGAIN_SECONDS = 1.0
# Memberships expire in the layer after a day; one that is renewed each hour never does.
JOIN_EVERY = 3600.0


async def hints_listen(groups: Sequence[str], *, changed: Callable[[], None], progress: Callable[[str], None]) -> None:
    """Call ``changed`` once after each joining and then at each hint, until this is cancelled.

    Join first, then read (case-22): whoever reads on ``changed`` misses nothing. A layer that is away costs hints
    only, never the connection to the browser.
    """
    while True:
        try:
            await _listen(groups, changed, progress)
        except Exception as error:  # whatever the layer's client raises: the page still reads by the clock
            log.info("live_hints_away", error=type(error).__name__)
            await asyncio.sleep(AGAIN_SECONDS)


async def _listen(groups: Sequence[str], changed: Callable[[], None], progress: Callable[[str], None]) -> None:
    layer = get_channel_layer()
    if layer is None:
        raise RuntimeError("no channel layer is configured")
    name = await layer.new_channel()
    for group in groups:
        await layer.group_add(group, name)
    changed()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(JOIN_EVERY):
                while True:
                    message = await layer.receive(name)
                    if message.get("type") == "progress":
                        progress(str(message.get("text", "")))
                    else:
                        changed()
    finally:
        with suppress(Exception):
            async with asyncio.timeout(AGAIN_SECONDS):
                for group in groups:
                    await layer.group_discard(group, name)
