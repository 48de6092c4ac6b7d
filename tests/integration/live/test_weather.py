"""Slow browsers, a layer that is away, a web process that dies: the page catches up, and nothing grows for ever."""

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.db import connection
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from core.embedded import address
from core.hints import group_of
from tasks_app.record.events import SignalReceived
from tests.conftest import database_url
from tests.integration.live.conftest import Live, Page, session_of
from tests.people import People
from tests.processes import wait_for
from tests.serving import WebServer, web_server

TRY_LATER = 1013


@pytest.fixture
def own_layer(transactional_db, private_services, tmp_path, people: People) -> Iterator[tuple[Live, object]]:
    """A web process whose channel layer this test alone uses, and may stop."""
    services = private_services()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": services.redis_url,
    }
    with web_server(environment, tmp_path) as server, ExitStack() as stack:
        yield Live(server, stack, people), services.valkey


def hint(live: Live, redis_url: str) -> None:
    async def send() -> None:
        layer = RedisPubSubChannelLayer(hosts=[{"address": address.channels_url(redis_url)}])
        await layer.group_send(group_of(live.task.pk), {"type": "hint", "stream": str(live.task.pk), "seq": 1})
        await layer.flush()

    asyncio.run(send())


def test_a_layer_that_is_away_costs_hints_only_and_is_joined_again(own_layer):
    live, valkey = own_layer
    page = live.page(after=1)
    page.connect()
    page.until_head()
    valkey.stop()
    head = live.signals(2, hint=False)
    page.until(head)  # the socket stayed; the clock alone made it read
    valkey.start()
    deadline = time.monotonic() + 20
    head = live.signals(1, hint=False)
    while page.after < head and time.monotonic() < deadline:
        hint(live, valkey.redis_url)  # joined again within a second or two: until then it is lost, as hints may be
        with suppress(TimeoutError):
            page.take(timeout=0.5)
    assert page.seqs == [2, 3, 4]


def read_out(page) -> None:
    """Read what had arrived before it was closed."""
    for _ in range(20):
        page.take()


def test_a_web_process_that_is_killed_loses_nothing_that_the_page_will_see(own_layer):
    live, _ = own_layer
    server: WebServer = live.web
    page = live.page(after=1)
    page.connect()
    page.until_head()
    server.stop(signal.SIGKILL)
    with pytest.raises(ConnectionClosed):
        read_out(page)
    head = live.signals(5, hint=False)
    server.start()
    page.connect()
    page.until(head)
    assert page.seqs == [2, 3, 4, 5, 6]


@pytest.mark.timeout(120)
def test_a_browser_that_does_not_read_is_closed_and_catches_up_later(own_layer):
    live, _ = own_layer
    # Small buffers below the server's own, which accepted connections inherit: it is soon noticed that nobody reads.
    live.web.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    many = [SignalReceived(name="s", payload=f"{number} " + "x" * 200) for number in range(1000)]
    head = live.write(*many)
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", live.web.port))
    slow = connect(
        f"ws://localhost:{live.web.port}/ws/tasks/{live.task.pk}/?timeline=1",
        sock=line,
        additional_headers={"Cookie": session_of(live.people.rhea)},
        origin=live.web.address,  # type: ignore[arg-type]
        max_queue=1,
        ping_interval=None,
        close_timeout=1,
    )
    with slow as browser:

        def closing() -> bool:
            browser.send(json.dumps({"type": "resume", "after": 0}))  # asks for megabytes, and takes none of them
            time.sleep(0.2)
            return "live_browser_slow" in live.web.log.read_text()

        wait_for(closing, seconds=60, what="the server to give up on the browser")
        with suppress(ConnectionClosed):
            while True:
                browser.recv(timeout=20)
        assert browser.close_code == TRY_LATER
    page: Page = live.page(after=0)
    page.connect()
    page.until(head)
    assert page.seqs == list(range(1, head + 1))
