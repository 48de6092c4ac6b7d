"""Replaces a killed pool process within a tenth of a second; Celery itself looks only every five."""

from typing import Any

from celery import bootsteps

EVERY = 0.1  # seconds between two looks: one waitpid for each process of the pool


class Respawn(bootsteps.StartStopStep):
    """A worker step that looks after a prefork pool; other pools have no processes and are left alone."""

    requires = ("celery.worker.components:Pool",)

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Begin to look, each time the loop starts: Celery ends the timers of a loop when it loses the broker."""
        pool = getattr(worker.pool, "_pool", None)
        if pool is not None and hasattr(pool, "maintain_pool"):
            hub.call_repeatedly(EVERY, pool.maintain_pool)
