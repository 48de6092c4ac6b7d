"""``python -m tasks_app.keeper``: started by a worker's main process, which describes itself on stdin."""

import json
import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path


def main() -> int:
    """Keep until the worker has gone and every loss is written; then remove the socket's folder."""
    # The worker decides when it ends, not the terminal or the service manager that signals the whole group.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # where we may: a little before the workers when the machine is busy
        os.nice(-5)
    told = json.load(sys.stdin)
    listener = socket.socket(fileno=told["listener"])

    import django

    django.setup()
    from django.conf import settings

    from tasks_app.keeper.server import Server
    from tasks_app.workers import WorkerDescription

    settings.DATABASES["default"]["CONN_MAX_AGE"] = None
    Server(worker=WorkerDescription(**told["worker"]), listener=listener).run()
    shutil.rmtree(Path(told["folder"]), ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
