"""Hints: "T has something up to n". They may be lost; the receiver reads Postgres and decides.

Publishing never holds up a writer: one daemon thread a process sends them, newest sequence only. A layer
that is away costs nothing here; pages ask again by themselves.

Rejected: sending from the writer's thread (half the time of a step went into it).
"""

import asyncio
import math
import os
import threading
import time
from collections.abc import Callable
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from django.db import transaction

from core.metrics import hints_lost, hints_wait

log = structlog.get_logger(__name__)
Message = dict[str, object]
ROUND_SECONDS = 0.02  # between two rounds: a busy writer must not spend its time on hints
# Between two hints to the same group; the first is sent at once. Readers do not read more often than this either.
GROUP_SECONDS = 0.1


def group_of(stream: UUID) -> str:
    """Return the live group of one stream."""
    return f"stream.{stream.hex}"


def list_group_of(workspace: UUID) -> str:
    """Return the live group of a workspace's lists."""
    return f"lists.{workspace.hex}"


def live_hint(*, stream: UUID, workspace: UUID, seq: int) -> None:
    """Tell live pages that a stream has something up to ``seq``; ids only."""
    message: Message = {"type": "hint", "stream": str(stream), "seq": seq}
    _publisher.put({group_of(stream): message, list_group_of(workspace): message})


def group_hint(*, group: str) -> None:
    """Tell whoever listens to a group that what it stands for may have changed."""
    _publisher.put({group: {"type": "hint"}})


def progress_hint(*, stream: UUID, text: str) -> None:
    """Show a line of progress on the live page of a stream; nothing is recorded."""
    _publisher.put({f"progress.{stream.hex}": {"type": "progress", "stream": str(stream), "text": text}})


def after_commit(function: Callable[[], None]) -> None:
    """Run ``function`` once the current transaction is committed; at once outside of one."""
    transaction.on_commit(function, robust=True)


class _Publisher:
    """Sends the newest message of each group; what is put while its group has just been told waits for its turn."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what a forked child does not have: the parent's thread and its loop."""
        self._waiting: dict[str, Message] = {}
        self._told: dict[str, float] = {}  # when each group was last told; groups that are free again are left out
        self._asleep_until = 0.0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, messages: dict[str, Message]) -> None:
        """Hand messages over; returns at once."""
        with self._changed:
            self._waiting |= messages
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hints", daemon=True)
                self._thread.start()
            elif any(self._told.get(group, 0.0) + GROUP_SECONDS < self._asleep_until for group in messages):
                self._changed.notify()

    def _run(self) -> None:
        loop = asyncio.new_event_loop()
        while True:
            round_ = self._next_round()
            try:
                loop.run_until_complete(_send(round_))
            except Exception as error:  # a lost hint costs at most 15 s; it must never cost the write
                hints_lost(len(round_))
                log.warning("live_hints_lost", count=len(round_), error=type(error).__name__)
            time.sleep(ROUND_SECONDS)

    def _next_round(self) -> dict[str, Message]:
        """Wait for a message whose group may be told again; return all of these."""
        with self._changed:
            while True:
                now = time.monotonic()
                self._told = {group: at for group, at in self._told.items() if at + GROUP_SECONDS > now}
                round_ = {group: message for group, message in self._waiting.items() if group not in self._told}
                if round_:
                    self._told |= dict.fromkeys(round_, now)
                    self._waiting = {group: m for group, m in self._waiting.items() if group not in round_}
                    self._asleep_until = 0.0
                    hints_wait(len(self._waiting))
                    return round_
                first = min((self._told[group] for group in self._waiting), default=math.inf)
                self._asleep_until = first + GROUP_SECONDS
                self._changed.wait(None if first == math.inf else self._asleep_until - now)


async def _send(round_: dict[str, Message]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        for group, message in round_.items():
            await layer.group_send(group if message["type"] == "hint" else group.replace("progress", "stream"), message)


_publisher = _Publisher()
os.register_at_fork(after_in_child=_publisher.reset)
