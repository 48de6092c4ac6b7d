"""How much a tool tries to use."""

import os
import resource
import signal
import threading
import time
from typing import Any

from tests.sandbox_tries.trying import MIB, Try


def spin(args: Try) -> Any:
    while True:
        pass


def spin_in_turn(args: Try) -> Any:
    """Spend processor time in one process after another, none of which is asked how much it took."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(args.number):
        if os.fork() == 0:
            until = time.process_time() + 0.8
            while time.process_time() < until:
                pass
            os._exit(0)
        try:
            os.wait()
        except ChildProcessError:
            continue
    return "spent"


def inodes(args: Try) -> Any:
    """Make files without content, and wait."""
    for number in range(args.number):
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
    time.sleep(1.0)
    return args.number


def memory(args: Try) -> Any:
    held = [bytearray(50 * MIB) for _ in range(100)]
    return len(held)


def memory_of_many(args: Try) -> Any:
    """Use more in several processes than one of them may."""
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(150 * MIB)
            held[::4096] = b"x" * len(held[::4096])
            time.sleep(30)
    os.wait()
    return "one was ended"


def fork_bomb(args: Try) -> Any:
    started = 0
    try:
        while started < 5000:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            started += 1
    except OSError:
        pass
    return started


def threads(args: Try) -> Any:
    started = 0
    try:
        while started < 5000:
            threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    return started


def disk(args: Try) -> Any:
    written = 0
    try:
        for number in range(100):
            with open(f"/tmp/{number}", "wb") as file:
                for _ in range(7):
                    file.write(b"x" * MIB)
                    file.flush()
                    written += 1
    except OSError as error:
        return {"mib": written, "why": error.strerror}
    return {"mib": written}


def large_file(args: Try) -> Any:
    try:
        with open("/tmp/large", "wb") as file:
            for _ in range(20):
                file.write(b"x" * MIB)
                file.flush()
    except OSError as error:
        return error.strerror
    return "written"


def open_many(args: Try) -> Any:
    held = []
    try:
        while len(held) < 100_000:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return {"opened": len(held), "why": error.strerror}
    return {"opened": len(held)}


def limits(args: Try) -> Any:
    """Return the hard limits that bind this process."""
    kinds = ("AS", "NPROC", "FSIZE", "NOFILE", "CORE", "CPU")
    return {kind: resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))[1] for kind in kinds}
