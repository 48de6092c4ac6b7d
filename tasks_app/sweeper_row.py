"""The sweeper's own row among the workers, so that readiness and pages can say that one lives."""

import os
import socket
from functools import cache
from uuid import uuid4

from tasks_app.workers import WorkerDescription, worker_seen

POOL = "sweeper"


@cache
def _me() -> WorkerDescription:
    host = socket.gethostname()
    return WorkerDescription(
        id=str(uuid4()), name=f"sweeper@{host}", host=host, pid=os.getpid(), pool=POOL, code_digest=""
    )


def sweeper_seen() -> int:
    """Write or refresh this sweeper's row (one of the sweeper's own finders, each second); it finds nothing."""
    worker_seen(worker=_me(), keeper_pid=os.getpid(), draining=False)
    return 0
