"""What every live socket does: accept, read after its cursor, send, end. Nothing can be decided over one."""

import asyncio
import json
from collections.abc import Awaitable
from contextlib import suppress
from time import monotonic, time
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.template.loader import render_to_string

from core.errors import NotFound
from core.metrics import pushed, socket_opened
from tasks_app.live.feed import Feed
from tasks_app.live.frame import FramePart, fingerprints, frame_parts
from tasks_app.live.hints import hints_listen
from tasks_app.live.message import Message, Reading, encoded
from tasks_app.live.reader import Listener, Withdrawn, cookies_of
from tasks_app.live.threads import read_in_thread

log = structlog.get_logger(__name__)

READ_EVERY = 15.0  # seconds; what a lost hint costs at most
RIGHT_EVERY = 4.0  # a withdrawn right ends it within 5 s
HEAD_EVERY = 20.0
COALESCE = 0.2  # between two reads; the first after a rest is at once
FRAME_COALESCE = 1.0  # the same, for what every page shows in its frame
FRAME_AFTER = 0.1  # a hint is first for the page's own content: the frame is read when that is under way
SLOW_AFTER = 5.0  # a browser that does not take a frame for so long is closed, and catches up later
LONGEST_ORDER = 1000  # characters that a browser may send
WITHDRAWN, AGAIN, TRY_LATER = 4403, 1011, 1013


class LiveConsumer(AsyncWebsocketConsumer):
    """Reads after its cursor whenever something may be new: one read at a time, a flag instead of a queue."""

    # No channel of the layer's own: a layer that is away would end the socket. ``hints_listen`` does it instead.
    channel_layer_alias = "none"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one socket. However it ends, by an error as well, nothing of it goes on."""
        self.jobs: list[asyncio.Task[None]] = []
        socket_opened(1)
        try:
            await super().__call__(scope, receive, send)
        finally:
            socket_opened(-1)
            self._jobs_end()

    async def connect(self) -> None:
        """Accept, or accept and close: a refused handshake looks to the browser like a lost connection."""
        await self.accept()
        self.listener = Listener(cookies=cookies_of(self.scope))
        self.changed, self.cursor, self.resumed = asyncio.Event(), 0, False
        self.frame_changed, self.parts, self.prints = asyncio.Event(), list[FramePart](), dict[int, object]()
        self.resume_at: int | None = None
        self.progress: str | None = None
        self.again: float | None = None
        await self.guarded(self.begin())

    async def begin(self) -> None:
        """Open what is followed, and follow it. Raises Withdrawn."""
        try:
            self.feed, groups = await read_in_thread(self.opened)
        except ValueError:  # an address that no page of ours makes
            raise Withdrawn from None
        self.parts, part_groups = await read_in_thread(self._parts_opened)
        hints = [hints_listen(groups, changed=self.changed.set, progress=self._progress)]
        if self.parts:
            hints.append(hints_listen(part_groups, changed=self.frame_changed.set, progress=_nothing))
        self.jobs = [asyncio.create_task(job) for job in (self._follow(), self._follow_frame(), *hints)]

    def opened(self) -> tuple[Feed, list[str]]:
        """Return what this socket follows, and the groups of its hints. Raises Withdrawn."""
        raise NotImplementedError

    async def feed_check(self) -> None:
        """Raise Withdrawn where the right is gone."""
        await read_in_thread(self.feed.check)

    async def feed_read(self) -> Reading:
        """Return what is new after the cursor. Raises Withdrawn."""
        return await read_in_thread(self.feed.read, self.cursor)

    async def feed_rest(self) -> list[Message]:
        """Return what may follow later than the rows."""
        return await read_in_thread(self.feed.rest)

    def _parts_opened(self) -> tuple[list[FramePart], list[str]]:
        parts = frame_parts(self.listener)
        return parts, sorted({group for part in parts for group in part.groups()})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take what ``ordered`` knows; everything else is left aside."""
        try:
            order = json.loads(text_data or "") if len(text_data or "") <= LONGEST_ORDER else None
        except ValueError:
            return
        if isinstance(order, dict) and self.jobs:  # one that was refused and is being closed takes none
            await self.guarded(self.ordered(order))

    async def ordered(self, order: dict[str, Any]) -> None:
        """Take ``resume``, with the cursor of the page."""
        after = order.get("after", 0)
        fits = isinstance(after, int) and not isinstance(after, bool) and 0 <= after < 2**53
        if order.get("type") == "resume" and fits:
            self.resume_at = after
            self.changed.set()

    def _progress(self, text: str) -> None:
        self.progress = text
        self.changed.set()

    def _jobs_end(self) -> None:
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            if job is not asyncio.current_task():
                job.cancel()

    async def guarded(self, work: Awaitable[None]) -> None:
        """Await this; what goes wrong closes the socket with a code that tells the page whether to come back."""
        try:
            await work
            return
        except (Withdrawn, NotFound):
            code = WITHDRAWN
        except TimeoutError:
            log.info("live_browser_slow", path=self.scope.get("path"))
            code = TRY_LATER
        except OSError:  # the browser went in the middle of a message: there is nobody to tell
            code = AGAIN
        except Exception as error:  # the database is away, or a mistake of ours: the page comes back by itself
            log.warning("live_socket_failed", error=type(error).__name__, exc_info=True)
            code = AGAIN
        self._jobs_end()
        with suppress(OSError):
            await self.close(code)

    async def _follow(self) -> None:
        await self.guarded(self._run())

    async def _follow_frame(self) -> None:
        """Keep the frame of the page fresh; what goes wrong here must not end the page's own updates."""
        read_at = monotonic() + READ_EVERY
        while self.parts:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, read_at - monotonic())):
                    await self.frame_changed.wait()
            if self.frame_changed.is_set():
                await asyncio.sleep(FRAME_AFTER)
            self.frame_changed.clear()
            # By the clock whatever was hinted: of rights, which change counts as well, there is no hint.
            if by_clock := monotonic() >= read_at:
                read_at = monotonic() + READ_EVERY
            try:
                for part in self.parts if self.resumed else ():
                    await self._part_read(part, by_clock)
            except (Withdrawn, OSError):
                return  # the page's own reading says so; or the browser has gone
            except Exception as error:
                log.info("live_frame_failed", error=type(error).__name__)
            await asyncio.sleep(FRAME_COALESCE)

    async def _part_read(self, part: FramePart, by_clock: bool) -> None:
        prints = self.prints  # of before the page resumes, which may be meanwhile: it is told anew then
        print_ = await fingerprints.ask(part.fingerprint)
        if prints.get(id(part), self) == print_ and (print_ is None or not by_clock):
            return
        prints.pop(id(part), None)  # a read that fails is tried again
        message = await read_in_thread(part.read)
        # What came meanwhile may be in what was read: gone again, it leaves the print of before, and would stay shown.
        if await fingerprints.ask(part.fingerprint) == print_:
            prints[id(part)] = print_
        if message is not None:
            await self._send(message)

    async def _run(self) -> None:
        read_at, right_at, head_at = monotonic() + READ_EVERY, _tick(monotonic()), monotonic() + HEAD_EVERY
        last_read = 0.0
        while True:
            await self._rest(min(read_at, right_at, head_at))
            if self.changed.is_set() or monotonic() >= read_at:
                await asyncio.sleep(max(0.0, last_read + COALESCE - monotonic()))
                self.changed.clear()
                told = await self._catch_up()
                now = monotonic()
                last_read = now if self.resumed else 0.0
                read_at = now + (READ_EVERY if self.again is None else min(self.again, READ_EVERY))
                right_at = _tick(now)
                head_at = now + HEAD_EVERY if told else head_at
            if monotonic() >= right_at:
                await self.feed_check()
                right_at = _tick(monotonic())
            if monotonic() >= head_at:
                await self._send({"head": self.cursor})
                head_at = monotonic() + HEAD_EVERY

    async def _rest(self, until: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, until - monotonic())):
                await self.changed.wait()
        except TimeoutError:
            return

    async def _catch_up(self) -> bool:
        """Read and send until nothing is new; return whether the head was sent."""
        asked = self._take_resume()
        if not self.resumed:  # the page has not said yet what it shows
            await self.feed_check()
            return False
        if self.progress is not None:
            text, self.progress = self.progress, None
            await self._send({"html": render_to_string("tasks/_progress.html", {"text": text, "oob": True})})
        while True:
            reading = await self.feed_read()
            for message in reading.messages:
                await self._send(message)
            if reading.newest is not None and not asked:  # what a page catches up with says nothing about pushes
                pushed(max(time() - reading.newest.timestamp(), 0.0))
            self.cursor, self.again = reading.cursor, reading.again
            asked = self._take_resume() or asked
            if not reading.more and self.cursor == reading.cursor:
                break
        for message in await self.feed_rest():
            await self._send(message)
        if asked:
            await self._send({"head": self.cursor})
        return asked

    def _take_resume(self) -> bool:
        if self.resume_at is None:
            return False
        self.cursor, self.resume_at = self.resume_at, None
        self.feed.forget()
        self.prints = {}
        for part in self.parts:
            part.forget()
        self.frame_changed.set()
        self.resumed = True
        return True

    async def _send(self, message: Message) -> None:
        # The server holds a send back while its buffer is full: unsent bytes stay below that buffer and one frame.
        async with asyncio.timeout(SLOW_AFTER):
            await self.send(text_data=encoded(message))


def _tick(now: float) -> float:
    """Return when to ask for the right again: all sockets at the same moments, so that one question serves them."""
    return (now // RIGHT_EVERY + 1) * RIGHT_EVERY


def _nothing(text: str) -> None:
    """Progress belongs to a task's own page."""
