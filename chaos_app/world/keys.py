"""Key memory: a keyed system answers the same key with the same answer, for as long as it remembers."""

import json
import time

from chaos_app.world.errors import Refused
from chaos_app.world.storage import Storage
from chaos_app.world.visit import Reply, Visit

DAY = 86_400.0


class KeyMemory:
    """Remembers answers by (system, Idempotency-Key)."""

    def __init__(self, storage: Storage, *, retention: float | None) -> None:
        self._storage = storage
        if retention is not None:
            self.retention = retention
        # A key that was in use when the world was killed has no answer, and nothing was applied under it.
        storage.run("DELETE FROM key_memory WHERE status IS NULL")

    @property
    def retention(self) -> float:
        """Seconds for which an answer is remembered, from the first use of its key."""
        row = self._storage.row("SELECT value FROM setting WHERE name = 'retention'")
        return float(row["value"]) if row else DAY

    @retention.setter
    def retention(self, seconds: float) -> None:
        self._storage.run("INSERT OR REPLACE INTO setting (name, value) VALUES ('retention', ?)", str(seconds))

    def enter(self, visit: Visit) -> Reply | None:
        """Take the key, or give the answer that was remembered.

        Raises ``Refused``: 409 while the first request with this key is being processed, 422 for another body.
        """
        if not visit.idempotency_key:
            return None
        now = time.time()
        self._storage.run(
            "DELETE FROM key_memory WHERE system = ? AND key = ? AND status IS NOT NULL AND at < ?",
            *(visit.system, visit.idempotency_key, now - self.retention),
        )
        taken = self._storage.change(
            "INSERT OR IGNORE INTO key_memory (system, key, digest, at) VALUES (?, ?, ?, ?)",
            *(visit.system, visit.idempotency_key, visit.digest(), now),
        )
        return None if taken else self._remembered(visit)

    def _remembered(self, visit: Visit) -> Reply:
        row = self._storage.row(
            "SELECT * FROM key_memory WHERE system = ? AND key = ?", visit.system, visit.idempotency_key
        )
        if row is None:
            raise RuntimeError("a key vanished between two statements of one thread")
        if row["digest"] != visit.digest():
            raise Refused(422, "key_reused", "This Idempotency-Key was used for another request.")
        if row["status"] is None:
            raise Refused(409, "key_in_use", "The first request with this key is still being processed.")
        return Reply(row["status"], json.loads(row["body"]), {"Idempotency-Replayed": "true"}, replayed=True)

    def finish(self, visit: Visit, reply: Reply) -> None:
        """Remember the answer; called in the transaction that applies the effect."""
        if visit.idempotency_key:
            self._storage.run(
                "UPDATE key_memory SET status = ?, body = ? WHERE system = ? AND key = ?",
                *(reply.status, json.dumps(reply.body), visit.system, visit.idempotency_key),
            )

    def leave(self, visit: Visit) -> None:
        """Give a key back that was taken and came to nothing."""
        if visit.idempotency_key:
            self._storage.run(
                "DELETE FROM key_memory WHERE system = ? AND key = ? AND status IS NULL",
                *(visit.system, visit.idempotency_key),
            )

    def forget(self) -> int:
        """Forget every remembered answer, as a provider does once its retention is over; how many there were."""
        return self._storage.change("DELETE FROM key_memory WHERE status IS NOT NULL")
