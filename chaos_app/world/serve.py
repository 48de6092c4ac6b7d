"""Serving: the process of the outside world, from its command line to its end."""

import argparse
import asyncio
import ctypes
import fcntl
import logging
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

import uvicorn
from aiosmtpd.smtp import SMTP
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from chaos_app.world.controls import Controls
from chaos_app.world.errors import Refused, WorldUnusable
from chaos_app.world.outside import Outside
from chaos_app.world.seed import seed
from chaos_app.world.systems import OPERATIONS
from chaos_app.world.systems.mail import LARGEST_MESSAGE, Postman
from chaos_app.world.web import CuttableProtocol, problem, refused_answer, route

HOST = "127.0.0.1"
PR_SET_PDEATHSIG = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the world's arguments to a parser."""
    parser.add_argument("--dir", type=Path, required=True, help="folder of the world's own storage")
    parser.add_argument("--port", type=int, default=0, help="HTTP port on loopback, 0 for any")
    parser.add_argument("--smtp-port", type=int, default=0, help="SMTP port on loopback, 0 for any")
    parser.add_argument("--seed", type=Path, help="JSON file whose 'services' are the first configurations")
    parser.add_argument("--retention", type=float, help="seconds for which keys are remembered (first start: a day)")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this parent process ends")


def main(argv: list[str] | None = None) -> int:
    """Run the world until SIGTERM or Ctrl-C; 0 then, 3 with a sentence if it cannot start."""
    parser = argparse.ArgumentParser(prog="world", description=__doc__)
    arguments(parser)
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s world %(levelname)s %(message)s")
    # aiosmtpd warns of things that are told to happen here: cut connections and odd replies.
    logging.getLogger("mail.log").setLevel(logging.ERROR)
    try:
        die_with(options.with_parent)
        with folder_locked(options.dir):
            asyncio.run(run(options))
    except WorldUnusable as error:
        print(f"The outside world cannot start: {error}", file=sys.stderr)
        return 3
    return 0


def die_with(parent: int | None) -> None:
    """Ask the kernel (Linux) for SIGTERM when the starter ends. Raises ``WorldUnusable`` if it has ended already."""
    if parent is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise WorldUnusable(f"its starter, process {parent}, has ended.")


@contextmanager
def folder_locked(folder: Path) -> Generator[IO[str]]:
    """Make and hold the folder. Raises ``WorldUnusable`` while another world uses it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a")
    except OSError as error:
        raise WorldUnusable(f"{folder} cannot be written ({error.strerror}). Choose another --dir.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorldUnusable(f"another one runs in {folder}. Stop it, or choose another --dir.") from error
        yield lock


def listen(port: int) -> socket.socket:
    """A listening socket on loopback. Raises ``WorldUnusable`` if the port is taken."""
    try:
        listening = socket.create_server((HOST, port), backlog=512)
    except OSError as error:
        raise WorldUnusable(f"port {port} is taken ({error.strerror}). Choose another, or 0 for any.") from error
    # Accepted sockets inherit it. asyncio sets it only on sockets made with an explicit protocol number, and without
    # it an answer of two packets waits 40 ms for the delayed acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


async def run(options: argparse.Namespace) -> None:
    """Serve HTTP and SMTP until a signal."""
    outside = Outside(options.dir.resolve(), retention=options.retention)
    seed(outside, options.seed)
    web, post = listen(options.port), listen(options.smtp_port)
    loop = asyncio.get_running_loop()
    make = partial(SMTP, Postman(outside), data_size_limit=LARGEST_MESSAGE, enable_SMTPUTF8=True, hostname="world")
    smtp = await loop.create_server(partial(make, loop=loop), sock=post)
    server = Server(outside, ready=f"world ready {address('http://', web)} smtp {address('', post)}")
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    try:
        await server.serve(sockets=[web])
    finally:
        smtp.close()
        outside.close()


def address(scheme: str, listening: socket.socket) -> str:
    """Where a socket listens."""
    return f"{scheme}{HOST}:{listening.getsockname()[1]}"


class Server(uvicorn.Server):
    """Uvicorn that says when it is ready and leaves signals to ``run``, so that a stop ends with status 0."""

    def __init__(self, outside: Outside, *, ready: str) -> None:
        self._outside, self._ready = outside, ready
        config = uvicorn.Config(
            application(outside),
            http=CuttableProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so in one line."""
        await super().startup(sockets=sockets)
        with suppress(BrokenPipeError):
            print(self._ready, flush=True)

    def stop(self) -> None:
        """Cut what is parked and end."""
        self._outside.armed.abandon()
        self.should_exit = True


def application(outside: Outside) -> ASGIApp:
    """Systems and controls as one ASGI application."""
    routes = [*Controls(outside).routes(), *(route(outside, operation) for operation in OPERATIONS if operation.path)]
    handlers = {Refused: refused_answer, HTTPException: _http_error, 500: _broken}
    return OwnHostOnly(Starlette(routes=routes, exception_handlers=handlers))  # type: ignore[arg-type]


class OwnHostOnly:
    """Refuses what a web page elsewhere could make a browser send: another Host or another Origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let requests through that name this host, from no origin or from its own."""
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            host, origin = headers.get("host", ""), headers.get("origin")
            if host.rsplit(":", 1)[0] not in (HOST, "localhost") or origin not in (None, f"http://{host}"):
                await problem(Refused(403, "foreign", "Only this machine's own programs and pages may ask here."))(
                    scope, receive, send
                )
                return
        await self._app(scope, receive, send)


async def _http_error(request: Request, error: HTTPException) -> Response:
    return problem(Refused(error.status_code, "http", f"{error.detail}: {request.method} {request.url.path}"))


async def _broken(request: Request, error: Exception) -> Response:
    return problem(Refused(500, "broken", "The outside world failed here; its log says why."))
