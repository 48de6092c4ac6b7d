"""A receiver outside: a real HTTP server that keeps what it gets and answers as it is told."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOST = 0  # for an answer: the connection is closed without any


@dataclass(frozen=True)
class Got:
    """One request that it got."""

    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Receiver:
    """``answers``: the status codes of the next requests; 204 where there are none left, and ``LOST`` for
    one that is kept and never answered. ``hold``: set to answer.

    ``holds``: what the next requests wait for, each its own; ``hold`` where there are none left.
    """

    port: int = 0
    got: list[Got] = field(default_factory=list)
    answers: deque[int] = field(default_factory=deque)
    hold: threading.Event = field(default_factory=threading.Event)
    holds: deque[threading.Event] = field(default_factory=deque)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Receive until the block ends."""
    receiver = Receiver()
    receiver.hold.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(receiver))
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            hold = receiver.holds.popleft() if receiver.holds else receiver.hold
            receiver.got.append(Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            hold.wait(30)
            answer = receiver.answers.popleft() if receiver.answers else 204
            if answer == LOST:
                self.close_connection = True
                return
            self.send_response(answer)
            self.send_header("Location", receiver.url)
            self.end_headers()

        do_POST = do_GET = take

        def log_message(self, *args: Any) -> None:
            pass

    return Handler
