"""How a tool ends: it answers, hangs, dies, refuses."""

import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Any

from tasks_app.contracts import Refused, Unknown
from tests.sandbox_tries.trying import MIB, Try

PR_SET_NAME = 15


def answer(args: Try) -> Any:
    return {"word": args.word}


def hang(args: Try) -> Any:
    print("about to hang", flush=True)
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"hanging")  # seen from outside
    time.sleep(60)


def hang_deaf(args: Try) -> Any:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def die(args: Try) -> Any:
    print("last words", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(args: Try) -> Any:
    os._exit(0)


def refuse(args: Try) -> Any:
    raise Refused("it says no", code="no", moved=True)


def cannot_tell(args: Try) -> Any:
    raise Unknown("nobody knows", retry_after=0.1)


def fail(args: Try) -> Any:
    raise ValueError(args.word)


def odd(args: Try) -> Any:
    return {"bytes": b"\xff\x00", "nan": float("nan"), "set": {1}, "tuple": (1, 2), "path": Path("/x")}


def chatter(args: Try) -> Any:
    for _ in range(200):
        print("x" * 10_000)
    return "said much"


def large(args: Try) -> Any:
    return "x" * MIB
