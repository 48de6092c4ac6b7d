"""Who has a card open now, for a page that has no socket (yet): kept beside the broker for seconds, then forgotten.

Each socket that looks at a card notes its reader here as often as it says so to the others. Without the store nobody
is named, and nothing else is lost.
"""

from collections.abc import Callable
from functools import cache
from time import time
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import structlog
from django.conf import settings

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

FORGET_AFTER = 25.0  # seconds; as the sockets do among themselves
PATIENCE = 0.25  # seconds that a page waits for the store


@cache
def _store() -> "Redis":
    # Loaded with the first card: it brings along tracing that most processes never use.
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE,
        socket_connect_timeout=PATIENCE,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )


def _place(approval: UUID) -> str:
    return f"handrail:looking:{approval.hex}"


def _asked(work: Callable[["Redis"], Any]) -> Any:
    """Return what the store says; None where it is away."""
    from redis import RedisError

    try:
        return work(_store())
    except RedisError as error:
        log.info("open_cards_away", error=type(error).__name__)
        return None


def open_note(*, approval: UUID, key: str, name: str) -> None:
    """Note that the socket ``key`` shows this card to ``name`` now."""

    def note(store: "Redis") -> None:
        with store.pipeline(transaction=False) as pipe:
            pipe.hset(_place(approval), key, f"{time()} {name}")
            pipe.expire(_place(approval), round(FORGET_AFTER))
            pipe.execute()

    _asked(note)


def open_forget(*, approval: UUID, key: str) -> None:
    """Forget that socket."""
    _asked(lambda store: store.hdel(_place(approval), key))


def open_now(*, approval: UUID) -> dict[str, str]:
    """Return the readers that have this card open, by socket; nobody where the store is away."""
    noted = cast(dict[str, str], _asked(lambda store: store.hgetall(_place(approval))) or {})
    since = time() - FORGET_AFTER
    split = ((key, value.partition(" ")) for key, value in noted.items())
    return {key: name for key, (at, _, name) in split if float(at) > since}
