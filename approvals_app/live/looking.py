"""Who else is looking at a card right now: said from socket to socket, and forgotten within seconds.

Each open card says its reader's name now and then; who stops saying it has gone. The same is noted for pages that have
no socket (``open_cards``). Nothing is decided by it and nothing is recorded: when a person first opened a card is
(``ApprovalView``).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import structlog
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.template.loader import render_to_string

from approvals_app.live.open_cards import FORGET_AFTER, open_forget, open_note, open_now

log = structlog.get_logger(__name__)

SAY_EVERY = 10.0  # seconds; two that were lost, and some, until one is forgotten
AGAIN = 1.0
Changed = Callable[[list[str]], Awaitable[None]]


@dataclass(slots=True)
class Lookers:
    """Who was heard of. Pure; times are CLOCK_MONOTONIC seconds. ``me`` in another tab is nobody else."""

    me: str
    heard: dict[str, tuple[str, float]] = field(default_factory=dict)

    def begin(self, noted: Mapping[str, str], now: float) -> None:
        """Take over who was noted to be there, by socket; who does not answer within a second is gone."""
        for key, name in noted.items():
            self.take({"key": key, "name": name}, now - FORGET_AFTER + AGAIN)

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
            await _look(approval, name, changed)
        except Exception as error:  # the layer is away: nobody is shown meanwhile, and nothing else is lost
            log.info("looking_away", error=type(error).__name__)
            await asyncio.sleep(AGAIN)


async def _look(approval: UUID, name: str, changed: Changed) -> None:
    layer: Any = get_channel_layer()
    group, channel, key = f"looking.{approval.hex}", await layer.new_channel(), uuid4().hex
    lookers, told = Lookers(name), None  # the first answer is given in any case: the page may show who has gone
    lookers.begin(await asyncio.to_thread(open_now, approval=approval), monotonic())

    async def say(**more: bool) -> None:
        await layer.group_send(group, {"type": "looking", "key": key, "name": name, **more})
        if not more.get("gone"):
            await asyncio.to_thread(open_note, approval=approval, key=key, name=name)

    await layer.group_add(group, channel)
    try:
        await say(new=True)
        say_at = monotonic() + SAY_EVERY
        while True:
            if (names := lookers.names(monotonic())) != told:
                told = names
                await changed(names)
            message = await _heard(layer, channel, say_at)
            if message is None or (message.get("new") and message.get("key") != key):
                await say()  # a newcomer is answered at once
            if message is None:
                say_at = monotonic() + SAY_EVERY
            else:
                lookers.take(message, monotonic())
    finally:
        with suppress(Exception):
            async with asyncio.timeout(AGAIN):
                await say(gone=True)
                await layer.group_discard(group, channel)
                await asyncio.to_thread(open_forget, approval=approval, key=key)


async def _heard(layer: Any, channel: str, until: float) -> dict[str, Any] | None:
    with suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, until - monotonic())):
            message: dict[str, Any] = await layer.receive(channel)
            return message
    return None


def name_of(user: User) -> str:
    """Return the name under which others see a person looking."""
    return user.get_full_name() or user.get_username()


def others_now(*, approval: UUID, user: User) -> list[str]:
    """Return who else has this card open now, for a page that has no socket (yet); nobody where that is not known."""
    return sorted(set(open_now(approval=approval).values()) - {name_of(user)})


def looking_html(approval: UUID, names: list[str]) -> str:
    """Return the line of a card that says who else is looking, to be swapped in."""
    return render_to_string("approvals/_looking.html", {"approval": approval, "looking": sentence(names), "oob": True})


def sentence(names: list[str]) -> str:
    """Say who is looking; an empty text where nobody is."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} is looking at this card"
    return f"{', '.join(names[:-1])} and {names[-1]} are looking at this card"
