"""What people do, each act in a process of its own: ``python -m chaos_app.drills.people CONTROL``.

This process has loaded everything and does nothing but fork: a child carries out one order, tells what came of it,
ends. It is the children's parent, so it knows how each of them has ended. Sweepers are its children too.
"""

import ctypes
import json
import os
import select
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any

from chaos_app.drills.lines import Json, Lines, connect
from tasks_app.keeper.process import status_text

PR_SET_PDEATHSIG = 1


class Forge:
    """Forks a child for each order and reports their ends."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._children: dict[int, str] = {}
        self._waiting: dict[str, int] = {}  # order -> the pipe at whose end its child waits
        self._heard = b""
        self._ended, told = os.pipe()
        os.set_blocking(told, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(told)

    def serve(self) -> None:
        """Carry out orders until the controller has gone; the children go with this process."""
        self._lines.say(ready=True)
        while True:
            ready, _, _ = select.select([self._lines.descriptor, self._ended], [], [])
            if self._ended in ready:
                os.read(self._ended, 4096)
                self._reap()
            if self._lines.descriptor in ready and not self._hear():
                return

    def _hear(self) -> bool:
        read = os.read(self._lines.descriptor, 65536)
        *lines, self._heard = (self._heard + read).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if order["do"] == "go":
                os.close(self._waiting.pop(order["id"]))
            else:
                self._fork(order)
        return bool(read)

    def _fork(self, order: Json) -> None:
        wait, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in [go, *self._waiting.values()]:
                os.close(other)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.read(wait, 1)  # until the controller knows who we are
            os._exit(_child(order, self._lines))
        os.close(wait)
        self._children[pid], self._waiting[order["id"]] = order["id"], go
        self._lines.say(id=order["id"], stage="forked", pid=pid)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                code = os.waitstatus_to_exitcode(status)
                self._lines.say(id=self._children.pop(pid, ""), stage="ended", pid=pid, status=status_text(code))


def _child(order: Json, lines: Lines) -> int:
    """Carry out one order in this process."""
    from chaos_app.drills.acts import ACTS

    if order.get("database"):
        _move(order["database"], order["redis"])
    try:
        answer: Any = ACTS[order["do"]](order)
        lines.say(id=order["id"], stage="done", answer=answer)
    except BaseException as error:
        lines.say(id=order["id"], stage="failed", answer=f"{type(error).__name__}: {error}"[:500])
        traceback.print_exc()
        return 1
    return 0


def _move(database: str, redis: str) -> None:
    """Let this process work in another database of the drill, with its own messages."""
    from celery import current_app
    from django.db import connection

    from core.embedded.address import celery_broker_url

    connection.settings_dict["NAME"] = database
    current_app.conf.update(broker_url=celery_broker_url(redis))


def main(control: str) -> None:
    """Load everything, then fork on demand."""
    import django

    django.setup()
    from chaos_app.drills import acts  # noqa: F401 - loaded once, before the forks
    from core.celery import app
    from tasks_app import registry
    from tasks_app.keeper.warm import load_before_forks

    app.loader.import_default_modules()
    registry.modules_load()
    app.connection().get_transport_cls()  # loaded here once, not by each child that sends a message
    app.amqp  # noqa: B018
    load_before_forks()
    lines = connect(control)
    lines.say(role="people")
    Forge(lines).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
