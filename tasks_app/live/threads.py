"""Reads of all sockets share a few threads, each with a connection of its own; pages are served by others."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import DatabaseSyncToAsync

_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="live")


async def read_in_thread[T](function: Callable[..., T], *args: Any) -> T:
    """Run a read of the database in one of the live threads."""
    return await DatabaseSyncToAsync(function, thread_sensitive=False, executor=_POOL)(*args)
