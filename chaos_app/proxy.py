"""A door in front of Postgres through which one commit can be lost: kept (done, never answered) or dropped.

It reads the frames of the wire protocol, so that a request is forwarded, or is not, as a whole, and a *kept* one is
known to be answered by the server before the connection is cut. It listens on a unix socket that is named as
Postgres names its own, in a folder of its own: that folder is the host to give to a client.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

SOCKET = ".s.PGSQL.5432"
PIECES = b"PBDEC"  # Parse, Bind, Describe, Execute, Close: what follows belongs to the same request
READY = b"Z"  # ReadyForQuery: whatever was committed is committed


class Fate(StrEnum):
    """What becomes of the request that a plan is for; afterwards the connection is cut."""

    KEPT = "kept"  # carried out, its answer swallowed
    DROPPED = "dropped"  # never arrives


@dataclass(eq=False, slots=True)
class Plan:
    """The next request of a client called ``application`` that contains ``containing`` (empty: any) meets this fate.

    ``hold``: the client is left waiting until ``release`` instead of being cut at once.
    """

    fate: Fate
    containing: bytes = b""
    application: bytes = b""
    hold: bool = False
    fired: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Happened:
    """One line of the proxy's log: evidence that a fault landed."""

    at: float  # seconds since 1970
    what: str  # kept, dropped, cut
    bytes: int


class Proxy:
    """Forwards every connection; one armed plan at a time. Its methods may be called from any thread."""

    def __init__(self, *, server: Path, folder: Path) -> None:
        self.server, self.folder = server / SOCKET, folder
        self.log: list[Happened] = []
        self._plan: Plan | None = None
        self._doors: set[_Door] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def arm(self, plan: Plan) -> Plan:
        """Let ``plan`` meet the next request that it is for."""
        self._plan = plan
        return plan

    def disarm(self) -> None:
        """Forget the plan."""
        self._plan = None

    def cut(self) -> None:
        """End every connection now, as a network would."""
        for door in list(self._doors):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(door.close)

    def take(self, request: bytes, application: bytes) -> Plan | None:
        """Return the armed plan, once, if this request is what it is for."""
        plan = self._plan
        if plan is None or plan.containing not in request or plan.application not in application:
            return None
        self._plan = None
        return plan

    def note(self, what: str, size: int) -> None:
        """Write a line of the log."""
        self.log.append(Happened(time.time(), what, size))

    async def serve(self, started: threading.Event) -> None:
        """Serve until cancelled."""
        self._loop = asyncio.get_running_loop()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        async with await asyncio.start_unix_server(self._accept, self.folder / SOCKET) as listening:
            started.set()
            await listening.serve_forever()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server = await asyncio.open_unix_connection(self.server)
        except OSError:  # Postgres is away: so are we
            writer.close()
            return
        door = _Door(self, (reader, writer), server)
        self._doors.add(door)
        try:
            await door.serve()
        finally:
            door.close()
            self._doors.discard(door)


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Door:
    """One connection of a client and its twin to the server."""

    def __init__(self, proxy: Proxy, client: Streams, server: Streams) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._application = b""
        self._swallow = False
        self._answered = asyncio.Event()

    def close(self) -> None:
        self._client[1].close()
        self._server[1].close()

    async def serve(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            async with asyncio.TaskGroup() as group:
                down = group.create_task(self._down())
                await self._up()
                down.cancel()

    async def _up(self) -> None:
        self._application = await _startup(self._client[0])
        self._server[1].write(self._application)
        async for request in _requests(self._client[0]):
            plan = self._proxy.take(request, self._application)
            if plan is not None:
                await self._fate(plan, request)
                return
            self._server[1].write(request)
            await self._server[1].drain()

    async def _fate(self, plan: Plan, request: bytes) -> None:
        if plan.fate is Fate.KEPT:
            self._swallow = True
            self._server[1].write(request)
            await self._answered.wait()
        self._proxy.note(plan.fate, len(request))
        plan.fired.set()
        if plan.hold:
            await asyncio.to_thread(plan.release.wait)

    async def _down(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, frame = await _frame(self._server[0])
                if not self._swallow:
                    self._client[1].write(frame)
                    await self._client[1].drain()
                elif kind == READY:
                    self._answered.set()
        self._answered.set()
        self.close()


async def _startup(reader: asyncio.StreamReader) -> bytes:
    """Read the first packet, which has no kind; it names the database, the user, the application."""
    head = await reader.readexactly(4)
    return head + await reader.readexactly(int.from_bytes(head) - 4)


async def _frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    return head[:1], head + await reader.readexactly(int.from_bytes(head[1:]) - 4)


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield whole requests: the pieces of one up to its Sync, or a single message."""
    pieces = []
    with suppress(asyncio.IncompleteReadError):
        while True:
            kind, frame = await _frame(reader)
            pieces.append(frame)
            if kind not in PIECES:
                yield b"".join(pieces)
                pieces = []


async def _finish() -> None:
    """Let the connections that are still open end."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@contextmanager
def proxy_start(*, server: Path, folder: Path) -> Iterator[Proxy]:
    """Run a proxy in a thread of this process. ``server``: the folder of Postgres's socket; ``folder``: of ours."""
    proxy, started = Proxy(server=server, folder=folder), threading.Event()
    loop = asyncio.new_event_loop()
    serving: list[asyncio.Task[None]] = []

    def run() -> None:
        try:
            serving.append(loop.create_task(proxy.serve(started)))
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(serving[0])
            loop.run_until_complete(_finish())
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="postgres-proxy", daemon=True)
    thread.start()
    try:
        if not started.wait(10):
            raise TimeoutError("The proxy did not come up.")
        yield proxy
    finally:
        proxy.cut()
        loop.call_soon_threadsafe(serving[0].cancel)
        thread.join(10)
