"""Real sockets to a real web process, and a reader that keeps the page's side of the protocol."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from core.access import Role
from core.hints import live_hint
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import Event, SignalReceived
from tests.conftest import database_url
from tests.desk import Desk
from tests.people import People, person
from tests.processes import wait_for
from tests.records import new_task
from tests.serving import WebServer, web_server

PATIENCE = 20.0
AGAIN = 1011


@pytest.fixture(scope="session")
def live_web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """One web process for the sockets of all tests here."""
    import os

    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": django_settings.REDIS_URL,
        "CELERY_BROKER_URL": django_settings.CELERY_BROKER_URL,
    }
    with web_server(environment, tmp_path_factory.mktemp("live")) as server:
        yield server


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"{django_settings.SESSION_COOKIE_NAME}={client.cookies[django_settings.SESSION_COOKIE_NAME].value}"


def strict(text: str) -> dict[str, Any]:
    """Read a frame as a browser's JSON.parse does: no NaN, no Infinity, no lone surrogates."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    assert len(text.encode()) < 64 * 1024
    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return found


class Page:
    """A page of a task as its script keeps it: what it has is dropped, on a gap it asks again."""

    def __init__(self, open_socket: Callable[[], ClientConnection], after: int) -> None:
        self.open_socket = open_socket
        self.after = after
        self.seqs: list[int] = []
        self.frames: list[dict[str, Any]] = []
        self.html = ""
        self.socket: ClientConnection | None = None
        self.comebacks = 3

    def connect(self, *, resume: bool = True) -> None:
        self.socket = self.open_socket()
        if resume:
            with suppress(ConnectionClosed):  # refused readers are closed before they can ask
                self.resume()

    def resume(self) -> None:
        assert self.socket is not None
        self.socket.send(json.dumps({"type": "resume", "after": self.after}))

    def drop(self) -> None:
        """Lose the connection without a word."""
        assert self.socket is not None
        self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.socket = None

    def take(self, timeout: float = PATIENCE) -> dict[str, Any]:
        assert self.socket is not None
        try:
            text = str(self.socket.recv(timeout=timeout))
        except ConnectionClosed as closed:
            # No connection to the database in time, on a busy machine: a page comes back by itself, and so does this.
            if closed.rcvd is None or closed.rcvd.code != AGAIN or self.comebacks == 0:
                raise
            self.comebacks -= 1
            self.connect()
            return self.take(timeout)
        message = strict(text)
        self.frames.append(message)
        if "html" in message and self._fits(message):
            self.html += message["html"]
            self.seqs += [int(seq) for seq in re.findall(r'id="event-(\d+)"', message["html"])]
            self.after = message.get("seq", self.after)
        return message

    def _fits(self, message: dict[str, Any]) -> bool:
        if "seq" not in message:
            return True
        if message["seq"] <= self.after:
            return False
        if message["after"] != self.after:
            self.resume()
            return False
        return True

    def until(self, seq: int) -> None:
        """Take frames until the page shows event ``seq``."""
        while self.after < seq:
            self.take()

    def until_head(self) -> int:
        """Take frames until the server says that nothing more is there."""
        while "head" not in (message := self.take()):
            pass
        return int(message["head"])

    def closed_with(self, timeout: float = PATIENCE) -> int:
        """Return the code with which the server closes."""
        with suppress(ConnectionClosed):
            while True:
                self.take(timeout)
        assert self.socket is not None
        assert self.socket.close_code is not None
        return int(self.socket.close_code)


class Live:
    """Opens sockets as people, and writes to the task that they watch."""

    def __init__(self, web: WebServer, stack: ExitStack, people: People) -> None:
        self.web, self.stack, self.people = web, stack, people
        self.task = new_task(people.workspace, people.rhea, title="Watch me")

    def socket(self, path: str, *, cookie: str = "", origin: str | None = None, **options: Any) -> ClientConnection:
        opening = connect(
            f"ws://localhost:{self.web.port}{path}",
            additional_headers={"Cookie": cookie} if cookie else {},
            origin=self.web.address if origin is None else origin,  # type: ignore[arg-type]
            close_timeout=1,
            **options,
        )
        return self.stack.enter_context(opening)

    def page(self, *, after: int, user: User | None = None, cookie: str | None = None) -> Page:
        cookie = session_of(user or self.people.rhea) if cookie is None else cookie
        path = f"/ws/tasks/{self.task.pk}/?timeline=1"
        return Page(lambda: self.socket(path, cookie=cookie), after)

    def write(self, *events: Event, hint: bool = True) -> int:
        done = append(stream=self.task.pk, events=events, actor="worker:w-1")
        if hint:
            live_hint(stream=self.task.pk, workspace=self.task.workspace_id, seq=done.head_seq)
        return done.head_seq

    def settled(self, page: Page) -> None:
        """Wait until a page is up to date, has joined its group, and nothing more is under way."""
        page.until_head()
        for _ in range(2):
            page.until(self.signals(1))
        with suppress(TimeoutError):
            while True:
                page.take(timeout=1.0)

    def signals(self, count: int, *, hint: bool = True, at_once: bool = True) -> int:
        """Write ``count`` events, as one append or each for itself; return the head."""
        events = [SignalReceived(name=f"s{number}") for number in range(count)]
        if at_once:
            return self.write(*events, hint=hint)
        return [self.write(event, hint=hint) for event in events][-1]

    def refresh(self) -> Task:
        return Task.objects.get(pk=self.task.pk)


@pytest.fixture
def live(transactional_db: None, live_web: WebServer, people: People) -> Iterator[Live]:
    begun = live_web.log.stat().st_size
    with ExitStack() as stack:
        yield Live(live_web, stack, people)
    with live_web.log.open() as log:
        log.seek(begun)
        print(log.read())  # pytest shows it where a test fails


@pytest.fixture
def desk(live: Live) -> Desk:
    """A desk of the people who watch here; ``vera`` looks only, ``owen`` owns the tasks."""
    people = live.people
    owen = person("owen", people.workspace, Role.OPERATOR)
    vera = person("vera", people.workspace, Role.VIEWER)
    return Desk(people.workspace, rhea=people.rhea, silas=people.silas, owen=owen, vera=vera, tobin=people.tobin)


__all__ = ["Live", "Page", "session_of", "wait_for"]
