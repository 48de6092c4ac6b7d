"""Waiting for a decision over HTTP: answered at once when it is there, holding neither thread nor connection."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connection

from approvals_app.api_schemas import approval_fields
from approvals_app.selectors.requests import approval_find
from approvals_app.status import ApprovalStatus
from core.hints import group_of
from core.models import Workspace
from tasks_app.live.hints import hints_listen

LONGEST_WAIT = 25.0  # seconds: shorter than what proxies give a request
LOOK_AGAIN = 2.0  # seconds; a hint that was lost costs so much


async def decision_wait(*, workspace: Workspace, approval: UUID, seconds: float) -> dict[str, Any]:
    """Return the request as soon as nobody needs to be waited for any more, or as it is after so many seconds.

    Raises NotFound, as reading it does. A decision is read from its row; hints only make it quicker.
    """
    return await change_wait(lambda: _read(workspace, approval), seconds=seconds)


async def change_wait(read: Callable[[], dict[str, Any]], *, seconds: float) -> dict[str, Any]:
    """Return what ``read`` gives as soon as it says ``decided``, at the latest after so many seconds.

    ``read`` names its ``task``, whose hints are listened to; it runs in a thread.
    """
    until = time.monotonic() + seconds
    look = sync_to_async(lambda: _and_close(read))
    found = await look()
    if found["decided"] or seconds <= 0:
        return found
    changed = asyncio.Event()
    listening = asyncio.create_task(
        hints_listen([group_of(found["task"])], changed=changed.set, progress=lambda text: None)
    )
    try:
        while not found["decided"] and (left := until - time.monotonic()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), min(left, LOOK_AGAIN))
            changed.clear()
            found = await look()
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
    return found


def _read(workspace: Workspace, approval: UUID) -> dict[str, Any]:
    row = approval_find(workspace=workspace, approval=approval)
    return approval_fields(row) | {"decided": row.status != ApprovalStatus.REQUESTED}


def _and_close(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read, and give the connection back to the pool: none is held while we wait."""
    try:
        return read()
    finally:
        connection.close()
