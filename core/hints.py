"""Hints: "look at task T", "T has something up to n". Both may be lost; the receiver reads Postgres and decides."""

from collections.abc import Callable
from uuid import UUID

import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = structlog.get_logger(__name__)


def group_of(stream: UUID) -> str:
    """Return the live group of one stream."""
    return f"stream.{stream.hex}"


def list_group_of(workspace: UUID) -> str:
    """Return the live group of a workspace's lists."""
    return f"lists.{workspace.hex}"


def live_hint(*, stream: UUID, workspace: UUID, seq: int) -> None:
    """Tell live pages that a stream has something up to ``seq``; ids only, failure is logged and harmless."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(_send)(layer, stream, workspace, seq)
    except Exception as error:  # a lost hint costs at most 15 s; it must never cost the write
        log.warning("live_hint_lost", task_id=str(stream), seq=seq, error=type(error).__name__)


async def _send(layer: object, stream: UUID, workspace: UUID, seq: int) -> None:
    message = {"type": "hint", "stream": str(stream), "seq": seq}
    await layer.group_send(group_of(stream), message)  # type: ignore[attr-defined]
    await layer.group_send(list_group_of(workspace), message)  # type: ignore[attr-defined]


def after_commit(function: Callable[[], None]) -> None:
    """Run ``function`` once the current transaction is committed; at once outside of one."""
    transaction.on_commit(function, robust=True)
