"""Who has a card open now, for a page that has no socket (yet): kept beside the broker for seconds, then forgotten.

Each socket that looks at a card notes its reader here as often as it says so to the others. Without the store nobody
is named, and nothing else is lost.
"""

from functools import cache
from time import time
from typing import cast
from uuid import UUID

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

log = structlog.get_logger(__name__)

FORGET_AFTER = 25.0  # seconds; as the sockets do among themselves
PATIENCE = 0.25  # seconds that a page waits for the store


@cache
def _store() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )


def _place(approval: UUID) -> str:
    return f"handrail:looking:{approval.hex}"


def open_note(*, approval: UUID, key: str, name: str) -> None:
    """Note that the socket ``key`` shows this card to ``name`` now."""
    try:
        with _store().pipeline(transaction=False) as pipe:
            pipe.hset(_place(approval), key, f"{time()} {name}")
            pipe.expire(_place(approval), round(FORGET_AFTER))
            pipe.execute()
    except redis.RedisError as error:
        log.info("open_cards_away", error=type(error).__name__)


def open_forget(*, approval: UUID, key: str) -> None:
    """Forget that socket."""
    try:
        _store().hdel(_place(approval), key)
    except redis.RedisError as error:
        log.info("open_cards_away", error=type(error).__name__)


def open_now(*, approval: UUID) -> dict[str, str]:
    """Return the readers that have this card open, by socket; nobody where the store is away."""
    try:
        noted = cast(dict[str, str], _store().hgetall(_place(approval)))
    except redis.RedisError as error:
        log.info("open_cards_away", error=type(error).__name__)
        return {}
    since = time() - FORGET_AFTER
    split = ((key, value.partition(" ")) for key, value in noted.items())
    return {key: name for key, (at, _, name) in split if float(at) > since}
