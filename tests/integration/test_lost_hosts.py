"""A host that is lost without a word is noticed after seconds: the sockets say so to the kernel, which alone can.

Shown are the options of the sockets; that Linux breaks such a connection by them is not tried here, since no packet of
a loopback is lost.
"""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from kombu import Connection

from core.environment import database_read
from core.lost_hosts import redis_options
from tests.processes import ROOT

BOUNDS = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 10_000}
Forwarded = Callable[[str], int]


def copied(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            to.sendall(data)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)


@pytest.fixture
def forwarded() -> Iterator[Forwarded]:
    """Let a service on a unix socket be reached by TCP as well; returns the port."""
    with ExitStack() as stack:

        def serve(listener: socket.socket, path: str) -> None:
            with suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    far = stack.enter_context(socket.socket(socket.AF_UNIX))
                    far.connect(path)
                    stack.enter_context(near)
                    for ends in ((near, far), (far, near)):
                        threading.Thread(target=copied, args=ends, daemon=True).start()

        def forward(path: str) -> int:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            stack.callback(listener.shutdown, socket.SHUT_RDWR)
            threading.Thread(target=serve, args=(listener, path), daemon=True).start()
            return int(listener.getsockname()[1])

        yield forward


def said(of: socket.socket) -> dict[str, int]:
    assert of.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    return {name: of.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in BOUNDS}


@pytest.mark.django_db
def test_a_connection_to_the_database_is_given_up_after_seconds_of_silence(forwarded: Forwarded) -> None:
    there = connection.settings_dict
    port = forwarded(f"{there['HOST']}/.s.PGSQL.{there['PORT'] or 5432}")
    read = database_read("DATABASE_URL", f"postgresql://{there['USER']}@127.0.0.1:{port}/{there['NAME']}")
    with psycopg.connect(
        host=read["HOST"], port=read["PORT"], user=read["USER"], dbname=read["NAME"], **read["OPTIONS"]
    ) as made:
        with socket.socket(fileno=os.dup(made.fileno())) as ours:
            assert said(ours) == BOUNDS
        assert made.execute("SELECT 1").fetchone() == (1,)


def test_what_the_address_of_a_database_says_itself_stands() -> None:
    options = database_read("DATABASE_URL", "postgresql://a@db.example/n?keepalives_idle=60")["OPTIONS"]
    assert (options["keepalives_idle"], options["tcp_user_timeout"]) == (60, 10_000)


def test_a_workers_connection_to_the_broker_is_given_up_after_seconds_of_silence(forwarded: Forwarded) -> None:
    url = f"redis://127.0.0.1:{forwarded(urlsplit(settings.REDIS_URL).path)}/"
    with Connection(url, transport_options=redis_options(url)) as broker, broker.default_channel.client as client:
        assert client.ping()
        held = client.connection_pool.get_connection()
        assert said(held._sock) == BOUNDS
        assert held.socket_timeout is None  # a pop that waits for work is no outage
        client.connection_pool.release(held)


def test_a_pages_connection_to_the_live_layer_is_given_up_after_seconds_of_silence(forwarded: Forwarded) -> None:
    url = f"redis://127.0.0.1:{forwarded(urlsplit(settings.REDIS_URL).path)}/"

    async def look() -> dict[str, int]:
        from channels_redis.utils import create_pool

        pool = create_pool({"address": url, "max_connections": 2, **redis_options(url)})
        held = await pool.get_connection()
        try:
            return said(held._writer.get_extra_info("socket"))
        finally:
            await pool.release(held)
            await pool.aclose()

    assert asyncio.run(look()) == BOUNDS


SHOWN = "from django.conf import settings as s; h = s.CHANNEL_LAYERS['default']['CONFIG']['hosts'][0]; "
SHOWN += "print(bool(s.CELERY_BROKER_TRANSPORT_OPTIONS), bool(h.get('socket_keepalive_options')))"


@pytest.mark.parametrize(
    ("urls", "bounded"),
    [
        ({"REDIS_URL": "redis://127.0.0.1:9/0"}, "True True"),
        ({"REDIS_URL": "redis://127.0.0.1:9/0", "CELERY_BROKER_URL": "amqp://127.0.0.1:9//"}, "False True"),
        ({"REDIS_URL": "unix:///tmp/none.sock"}, "False False"),
    ],
)
def test_the_settings_bound_what_is_reached_by_tcp(urls: dict[str, str], bounded: str) -> None:
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", SHOWN]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "core.settings"} | urls
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == bounded, done.stderr
