"""A door in front of the broker: each message that a plan is for is lost, or delivered twice.

It reads whole commands, so that a message is forwarded, or is not, as a whole. A lost one is answered as if it had
been taken, which is what whoever sent it would see of a broker that loses it afterwards.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TAKEN = b":1\r\n"


@dataclass(eq=False, slots=True)
class Plan:
    """The next message that contains ``containing`` is "lost", or sent "twice". ``told`` hears when, and what."""

    fate: str
    containing: bytes
    told: Callable[[float, str], None]


class BrokerDoor:
    """Forwards every connection; each plan is met once. ``arm`` may be called from any thread."""

    def __init__(self, *, server: Path, path: Path) -> None:
        self.server, self.path = server, path
        self._plans: list[Plan] = []

    def arm(self, plan: Plan) -> None:
        """Let the next message that fits meet its fate."""
        self._plans.append(plan)

    async def serve(self, started: threading.Event) -> None:
        """Serve until cancelled."""
        async with await asyncio.start_unix_server(self._accept, self.path) as listening:
            started.set()
            await listening.serve_forever()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            down, up = await asyncio.open_unix_connection(self.server)
        except OSError:  # the broker is away: so are we
            writer.close()
            return
        back = asyncio.create_task(_copy(down, writer))
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while command := await _command(reader):
                plan = self._plan(command)
                if plan is not None and plan.fate == "lost":
                    plan.told(time.time(), f"a message of {len(command)} bytes was lost")
                    writer.write(TAKEN)
                    continue
                if plan is not None:
                    await self._beside(command)
                    plan.told(time.time(), f"a message of {len(command)} bytes was delivered twice")
                up.write(command)
                await up.drain()
        up.close()
        await back
        writer.close()

    def _plan(self, command: bytes) -> Plan | None:
        if b"LPUSH" not in command[:40]:
            return None
        found = next((plan for plan in self._plans if plan.containing in command), None)
        if found is not None:
            self._plans.remove(found)
        return found

    async def _beside(self, command: bytes) -> None:
        """Send a command over a connection of its own, and wait for its answer."""
        reader, writer = await asyncio.open_unix_connection(self.server)
        writer.write(command)
        await reader.readline()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _command(reader: asyncio.StreamReader) -> bytes:
    """Read one command whole: an array of texts, or a single line; empty at the end."""
    head = await reader.readline()
    pieces = [head]
    if head[:1] == b"*":
        for _ in range(int(head[1:])):
            size = await reader.readline()
            pieces += [size, await reader.readexactly(int(size[1:]) + 2)]
    return b"".join(pieces)


@contextmanager
def broker_door_start(*, server: Path, path: Path) -> Iterator[BrokerDoor]:
    """Run a door in a thread of this process, which ends with the process."""
    door, started = BrokerDoor(server=server, path=path), threading.Event()

    def run() -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(door.serve(started))

    threading.Thread(target=run, name="broker-door", daemon=True).start()
    if not started.wait(10):
        raise TimeoutError("The door before the broker did not come up.")
    yield door
