"""The frame of a page is read by the clock too, whatever is hinted; a read that failed or came too early counts not."""

import asyncio
import threading
from collections.abc import Callable
from http.cookies import SimpleCookie

import pytest
from django.contrib.auth.models import User

from approvals_app.live.waiting import WaitingPart
from tasks_app.live import consumer as consumers
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.feed import FrameFeed
from tasks_app.live.message import Message
from tasks_app.live.reader import Listener
from tasks_app.live.threads import read_in_thread
from tests.desk import Desk, desk_create, group, parked, rule
from tests.integration.live.conftest import session_of

EVERY = 0.3


@pytest.fixture(autouse=True)
def quick(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("READ_EVERY", EVERY), ("FRAME_AFTER", 0.0), ("FRAME_COALESCE", 0.0)):
        monkeypatch.setattr(consumers, name, seconds)


@pytest.fixture
def desk(quick: None) -> Desk:
    return desk_create()


class Socket(LiveConsumer):
    """A socket whose page has said what it shows, and whose browser is a list."""

    def __init__(self, part: object) -> None:
        self.parts, self.prints, self.resumed = [part], {}, True  # type: ignore[list-item]
        self.frame_changed, self.changed = asyncio.Event(), asyncio.Event()
        self.feed, self.sent = FrameFeed(who=lambda: None), list[Message]()

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
        self.after_sending()

    def after_sending(self) -> None:
        """Nothing, where a test has nothing in mind."""

    async def hinted_until(self, *done: Callable[[], bool], between: Callable[[], object] = lambda: None) -> None:
        """Follow the frame, hinted again and again, until each is so; between two of them something happens."""
        follow = asyncio.create_task(self._follow_frame())
        try:
            async with asyncio.timeout(60):
                for number, one in enumerate(done):
                    if number:
                        await read_in_thread(between)
                    while not one():
                        self.frame_changed.set()
                        await asyncio.sleep(EVERY / 10)
        finally:
            follow.cancel()


class Part:
    """A part for which nothing ever changes; ``during`` happens while it is read first."""

    fingerprint = staticmethod(lambda: "same")

    def __init__(self, during: Callable[[], None]) -> None:
        self.during, self.reads, self.forgotten = during, 0, 0

    def forget(self) -> None:
        self.forgotten += 1

    def read(self) -> None:
        self.reads += 1
        if self.reads == 1:
            self.during()


def listener(user: User) -> Listener:
    return Listener(cookies={name: morsel.value for name, morsel in SimpleCookie(session_of(user)).items()})


def test_whoever_joins_the_group_that_is_asked_sees_it_counted_though_hints_never_cease(desk: Desk):
    leads = group(desk, "leads", desk.silas)
    rule(desk, "leads", "true", group="leads")
    parked(desk)
    part = WaitingPart(listener(desk.rhea))

    async def watch() -> list[int]:
        socket = Socket(part)
        once, twice = (lambda: len(socket.sent) == 1), (lambda: len(socket.sent) == 2)
        await socket.hinted_until(once, twice, between=lambda: leads.members.add(desk.rhea))
        return [int(message["waiting"]) for message in socket.sent]

    assert asyncio.run(watch()) == [0, 1]


def test_a_read_that_failed_is_done_again_at_the_next_hint(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(consumers, "READ_EVERY", 3600.0)

    def fail() -> None:
        raise RuntimeError("the database is away")

    part = Part(fail)

    async def watch() -> None:
        await Socket(part).hinted_until(lambda: part.reads == 2)

    asyncio.run(watch())


def test_a_page_that_resumes_while_its_frame_is_read_is_told_it_once_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(consumers, "READ_EVERY", 3600.0)

    async def watch() -> tuple[int, int]:
        loop, resumed = asyncio.get_running_loop(), threading.Event()

        def resume() -> None:
            socket.resume_at = 0
            socket._take_resume()
            resumed.set()

        def during() -> None:
            loop.call_soon_threadsafe(resume)
            assert resumed.wait(20)

        part = Part(during)
        socket = Socket(part)
        await socket.hinted_until(lambda: part.reads == 2)
        return part.reads, part.forgotten

    assert asyncio.run(watch()) == (2, 1)


def test_what_comes_while_the_frame_is_read_and_goes_again_is_not_shown_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(consumers, "READ_EVERY", 3600.0)
    waits: list[str] = []
    part = WaitingHere(waits)

    async def watch() -> list[Message]:
        socket = Socket(part)
        monkeypatch.setattr(socket, "after_sending", waits.clear)  # decided, before the next hint is looked at
        await socket.hinted_until(lambda: len(socket.sent) == 2)
        return socket.sent

    assert asyncio.run(watch()) == [{"waiting": 1}, {"waiting": 0}]


class WaitingHere:
    """A count of what waits; something comes while it is read first."""

    def __init__(self, waits: list[str]) -> None:
        self.waits, self.told = waits, -1

    def fingerprint(self) -> int | None:
        return len(self.waits) or None

    def read(self) -> Message | None:
        if self.told == -1:
            self.waits.append("a request")
        before, self.told = self.told, len(self.waits)
        return None if before == self.told else {"waiting": self.told}
