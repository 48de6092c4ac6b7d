"""A drill that a page has started ends with the stack that the page belongs to: Ctrl-C there leaves nothing behind."""

import os
import signal
import sys
import threading
import time
from types import FrameType

from tasks_app.keeper.process import exists

STACK = "HANDRAIL_STACK"  # the process of the supervisor, told to everything that it runs
LOOK = 0.5  # seconds
PATIENCE = 10.0  # seconds for cleaning up; what is left then is removed by the next drill
ENDED = 128 + signal.SIGTERM


def end_with_stack() -> None:
    """Clean up and end as soon as the supervisor has gone; without one (a drill of the command line) do nothing."""
    stack = os.environ.get(STACK, "")
    if stack.isdigit():
        signal.signal(signal.SIGTERM, _end)
        threading.Thread(target=_watch, args=(int(stack),), name="stack", daemon=True).start()


def _watch(stack: int) -> None:
    while exists(stack):
        time.sleep(LOOK)
    os.kill(os.getpid(), signal.SIGTERM)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    last = threading.Timer(PATIENCE, os._exit, [ENDED])
    last.daemon = True
    last.start()
    sys.exit(ENDED)
