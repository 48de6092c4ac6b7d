"""A door in front of Postgres through which one commit can be lost: kept (done, never answered) or dropped.

It reads the frames of the wire protocol, so that a request is forwarded, or is not, as a whole, and a *kept* one is
known to be answered by the server before the connection is cut. It listens on a unix socket that is named as
Postgres names its own, in a folder of its own: that folder is the host to give to a client.
"""

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from chaos_app.frames import CHUNK, Frames, pieces, requests, startup

SOCKET = ".s.PGSQL.5432"
READY = b"Z"  # ReadyForQuery: whatever was committed is committed; its byte says whether a transaction is open
KEY = b"K"  # BackendKeyData: the process of the server behind this connection
LEADING = 40  # bytes of a statement that tell what it is
OUTSIDE = b"I"  # no transaction is open


class Fate(StrEnum):
    """What becomes of the request that a plan is for; afterwards the connection is cut."""

    KEPT = "kept"  # carried out, its answer swallowed
    DROPPED = "dropped"  # never arrives


@dataclass(eq=False, slots=True)
class Plan:
    """The next request of a client called ``application`` that contains ``containing`` (empty: any) meets this fate.

    ``pid``: only a request of that process (0: any). ``commits``: only a request that commits, which is the COMMIT of
    an open transaction, or a statement of its own. ``hold``: the client is left waiting until ``release`` instead of
    being cut at once.
    """

    fate: Fate
    containing: bytes = b""
    application: bytes = b""
    pid: int = 0
    commits: bool = False
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
    """Forwards every connection; each plan is met once. Its methods may be called from any thread."""

    def __init__(self, *, server: Path, folder: Path) -> None:
        self.server, self.folder = server / SOCKET, folder
        self.log: list[Happened] = []
        self._plans: list[Plan] = []
        self._doors: set[_Door] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def arm(self, plan: Plan) -> Plan:
        """Let ``plan`` meet the next request that it is for."""
        self._plans.append(plan)
        return plan

    def disarm(self) -> None:
        """Forget every plan."""
        self._plans = []

    def cut(self) -> None:
        """End every connection now, as a network would."""
        for door in list(self._doors):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(door.close)

    def backends(self, pid: int) -> list[int]:
        """Return the server's processes behind the connections of one client process."""
        return [door.backend for door in list(self._doors) if door.pid == pid and door.backend]

    def take(self, request: bytes, door: "_Door") -> Plan | None:
        """Return a plan that is for this request, once."""
        found = next((plan for plan in self._plans if door.meets(plan, request)), None)
        if found is not None:
            self._plans.remove(found)
        return found

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
        self._state = OUTSIDE
        self._prepared: dict[bytes, bytes] = {}  # the start of each statement that was prepared, by its name
        self.pid, self.backend = _peer(client[1]), 0

    def meets(self, plan: Plan, request: bytes) -> bool:
        """Whether a plan is for this request of this client."""
        if plan.pid not in {0, self.pid} or plan.containing not in request:
            return False
        return plan.application in self._application and (not plan.commits or self._commits(request))

    def _commits(self, request: bytes) -> bool:
        if self._state != OUTSIDE:
            return b"COMMIT" in request
        text = self._executed(request)
        return text is not None and not text.lstrip().startswith((b"BEGIN", b"SELECT"))

    def _executed(self, request: bytes) -> bytes | None:
        """Return the start of the statement that a request executes; None for one that only prepares."""
        text, executes = b"", False
        for kind, body in pieces(request):
            match kind:
                case b"Q":
                    return body[:LEADING]
                case b"P":
                    name, _, query = body.partition(b"\0")
                    text = self._prepared[name] = query.partition(b"\0")[0][:LEADING]
                case b"B":
                    text = self._prepared.get(body.partition(b"\0")[2].partition(b"\0")[0], b"")
                case b"E":
                    executes = True
        return text if executes else None

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
        self._application = await startup(self._client[0])
        self._server[1].write(self._application)
        async for request in requests(self._client[0]):
            self._executed(request)  # what it prepares is remembered, whoever is waited for
            plan = self._proxy.take(request, self)
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
        frames = Frames()
        with suppress(ConnectionError):
            while data := await self._server[0].read(CHUNK):
                is_ready = self._heard(frames.feed(data))
                if not self._swallow:
                    self._client[1].write(data)
                    await self._client[1].drain()
                elif is_ready:
                    self._answered.set()
        self._answered.set()
        self.close()

    def _heard(self, frames: list[bytes]) -> bool:
        """Note what the server says; return whether it waits for the next request now."""
        is_ready = False
        for frame in frames:
            if frame.startswith(READY):
                self._state, is_ready = frame[5:6], True
            elif frame.startswith(KEY):
                self.backend = int.from_bytes(frame[5:9])
        return is_ready


def _peer(writer: asyncio.StreamWriter) -> int:
    """Return the process at the other end, as the kernel knows it (0 where it does not say)."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    credentials = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], sys.byteorder)


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
