"""Postgres and Valkey together, for a ``with`` block: tests and drills run each in a folder of their own."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.embedded import folder
from core.embedded.postgres import Postgres
from core.embedded.valkey import Valkey


@dataclass(frozen=True)
class Services:
    """The two running servers; ``postgres.kill()`` and ``postgres.start()`` make a crash and its end."""

    postgres: Postgres
    valkey: Valkey

    @property
    def database_url(self) -> str:
        """The address for DATABASE_URL."""
        return self.postgres.database_url

    @property
    def redis_url(self) -> str:
        """The address for REDIS_URL."""
        return self.valkey.redis_url


@contextmanager
def embedded(var: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[Services]:
    """Run both services under ``var`` until the block ends (or this thread or process does, however it ends).

    ``settings`` are Postgres settings on top of ours. Raises EmbeddedError, in a sentence for the person at the keys.
    """
    with folder.claimed(var) as place, ExitStack() as stack:
        services = Services(Postgres(place, settings=settings), Valkey(place))
        stack.callback(services.postgres.stop)
        services.postgres.start()
        stack.callback(services.valkey.stop)
        services.valkey.start()
        yield services
