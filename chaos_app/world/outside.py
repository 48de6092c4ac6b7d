"""Everything that the outside world keeps, opened from one folder."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from chaos_app.world.armed import Armed
from chaos_app.world.keys import KeyMemory
from chaos_app.world.ledger import Ledger
from chaos_app.world.mailbox import Mailbox
from chaos_app.world.repository import Repository
from chaos_app.world.storage import Storage


class Outside:
    """The parts that the systems share. One process at a time opens a folder (kept by ``serve``)."""

    def __init__(self, folder: Path, *, retention: float | None = None) -> None:
        self.folder = folder
        self.storage = Storage(folder / "ledger.sqlite3")
        self.ledger = Ledger(self.storage)
        self.keys = KeyMemory(self.storage, retention=retention)
        self.armed = Armed(self.storage)
        self.mailbox = Mailbox(folder / "mail")
        self.repository = Repository(folder / "config.git", folder / "config")
        self.files = folder / "files"
        self.files.mkdir(exist_ok=True)
        # Held while commit or message and its row in the ledger are written, and while the two are compared.
        self.lock = asyncio.Lock()
        self._late: set[asyncio.Task[None]] = set()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work that nobody waits for. It is lost if the world is killed, like a packet on its way."""
        task = asyncio.get_running_loop().create_task(work)
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    def close(self) -> None:
        """End what waits and close the storage."""
        self.armed.abandon()
        for task in self._late:
            task.cancel()
        self.storage.close()
