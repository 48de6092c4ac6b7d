"""Who else is looking at a card right now: said from socket to socket, kept nowhere, forgotten within seconds.

Each open card says its reader's name now and then; who stops saying it has gone. Nothing is decided by it and nothing
is recorded: when a person first opened a card is (``ApprovalView``).
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import structlog
from channels.layers import get_channel_layer
from django.template.loader import render_to_string

log = structlog.get_logger(__name__)

SAY_EVERY = 10.0  # seconds
FORGET_AFTER = 25.0  # two that were lost, and some
AGAIN = 1.0
Changed = Callable[[list[str]], Awaitable[None]]


@dataclass(slots=True)
class Lookers:
    """Who was heard of. Pure; times are CLOCK_MONOTONIC seconds. ``me`` in another tab is nobody else."""

    me: str
    heard: dict[str, tuple[str, float]] = field(default_factory=dict)

    def take(self, message: dict[str, Any], now: float) -> None:
        """Note what one socket said of its reader."""
        key, name = str(message.get("key", "")), str(message.get("name", ""))
        if message.get("gone"):
            self.heard.pop(key, None)
        elif name != self.me:
            self.heard[key] = (name, now)

    def names(self, now: float) -> list[str]:
        """Return who is looking, each once."""
        self.heard = {key: (name, at) for key, (name, at) in self.heard.items() if now - at < FORGET_AFTER}
        return sorted({name for name, _ in self.heard.values()})


async def looking(*, approval: UUID, name: str, changed: Changed) -> None:
    """Say that somebody looks and call ``changed`` with who else does, until this is cancelled."""
    while True:
        try:
            await _look(f"looking.{approval.hex}", name, changed)
        except Exception as error:  # the layer is away: nobody is shown meanwhile, and nothing else is lost
            log.info("looking_away", error=type(error).__name__)
            await asyncio.sleep(AGAIN)


async def _look(group: str, name: str, changed: Changed) -> None:
    layer: Any = get_channel_layer()
    channel, key, lookers, told = await layer.new_channel(), uuid4().hex, Lookers(name), list[str]()

    async def say(**more: bool) -> None:
        await layer.group_send(group, {"type": "looking", "key": key, "name": name, **more})

    await layer.group_add(group, channel)
    try:
        await say(new=True)
        say_at = monotonic() + SAY_EVERY
        while True:
            message = await _heard(layer, channel, say_at)
            if message is None or (message.get("new") and message.get("key") != key):
                await say()  # a newcomer is answered at once
            if message is None:
                say_at = monotonic() + SAY_EVERY
            else:
                lookers.take(message, monotonic())
            if (names := lookers.names(monotonic())) != told:
                told = names
                await changed(names)
    finally:
        with suppress(Exception):
            async with asyncio.timeout(AGAIN):
                await say(gone=True)
                await layer.group_discard(group, channel)


async def _heard(layer: Any, channel: str, until: float) -> dict[str, Any] | None:
    with suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, until - monotonic())):
            message: dict[str, Any] = await layer.receive(channel)
            return message
    return None


def looking_html(approval: UUID, names: list[str]) -> str:
    """Return the line of a card that says who else is looking, to be swapped in."""
    return render_to_string("approvals/_looking.html", {"approval": approval, "sentence": sentence(names), "oob": True})


def sentence(names: list[str]) -> str:
    """Say who is looking; an empty text where nobody is."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} is looking at this card"
    return f"{', '.join(names[:-1])} and {names[-1]} are looking at this card"
