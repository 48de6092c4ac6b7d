"""Starts a sandbox under another process's name and holds it in the middle: ``python -m tests.sandbox_half_made NAME``.

Bubblewrap tells its first process's number before it lets that process go on. Here it is told into a pipe that is full:
as it stands, its outer process is between the two for as long as this one lives, and dies with it.
"""

import os
import sys
import time
from contextlib import suppress

from tasks_app.sandbox import bubblewrap
from tasks_app.sandbox.identity import namespace_of


def main(name: str) -> None:
    """Start it, say so, and wait to be killed."""
    reading, informing = os.pipe()
    os.set_blocking(informing, False)
    with suppress(BlockingIOError):
        while os.write(informing, b" " * 4096):
            pass
    os.set_blocking(informing, True)
    namespace = namespace_of(os.getpid())
    command = [*bubblewrap._walls(namespace), "--ro-bind", "/", "/", "--info-fd", str(informing), "--", "/bin/true"]
    program = bubblewrap.program()
    assert program is not None
    for one in (informing, *([namespace] if namespace is not None else [])):
        os.set_inheritable(one, True)
    os.posix_spawn(program, [name, *command], dict(os.environ))
    print("started", flush=True)
    time.sleep(600)
    os.close(reading)


if __name__ == "__main__":
    main(sys.argv[1])
