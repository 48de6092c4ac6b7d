"""``python -m tasks_app.keeper``: started by a worker's main process, which describes itself on stdin."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

APPS = {"django.contrib.auth", "django.contrib.contenttypes", "core", "tasks_app"}


def main() -> int:
    """Keep until the worker has gone and every loss is written; then remove the socket."""
    # The worker decides when it ends, not the terminal or the service manager that signals the whole group.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # where we may: a little before the workers when the machine is busy
        os.nice(-5)
    told = json.load(sys.stdin)
    listener = socket.socket(fileno=told["listener"])

    import django
    from django.conf import settings

    # Nothing that it does not need: while it starts again, the leases of its worker run.
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app in APPS]
    django.setup()
    from tasks_app.keeper.server import Server
    from tasks_app.workers import WorkerDescription

    Server(worker=WorkerDescription(**told["worker"]), listener=listener).run()
    Path(told["socket"]).unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
