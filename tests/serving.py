"""A real web process for tests: uvicorn on a socket that we bind ourselves, so that no other run can take the port."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.processes import ROOT

UP_WITHIN = 100.0  # a busy machine takes long to load a web process


@dataclass
class WebServer:
    """A web process that can be stopped, killed and started again at the same address."""

    environment: dict[str, str]
    folder: Path
    application: str = "core.asgi:application"
    listener: socket.socket = field(default_factory=socket.socket)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "web.log"

    def start(self) -> None:
        command = [sys.executable, "-m", "uvicorn", self.application, "--fd", str(self.listener.fileno())]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--timeout-graceful-shutdown", "1"],
                cwd=ROOT,
                env={"PUBLIC_URL": self.address} | self.environment,
                stdout=log,
                stderr=log,
                pass_fds=[self.listener.fileno()],
            )
        self._wait_until_up()

    def _wait_until_up(self) -> None:
        end = time.monotonic() + UP_WITHIN
        while time.monotonic() < end and self.process is not None and self.process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{self.address}/sign-in/", timeout=20)
                return
            time.sleep(0.05)
        pytest.fail(f"The web process did not answer:\n{self.log.read_text()}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        self.process = None


@contextlib.contextmanager
def web_server(
    environment: dict[str, str], folder: Path, application: str = "core.asgi:application"
) -> Iterator[WebServer]:
    """Run a web process until the block ends."""
    server = WebServer(environment, folder, application)
    with server.listener:
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def serving(environment: dict[str, str], folder: Path, application: str = "core.asgi:application") -> Iterator[str]:
    """Run a web process until the block ends; yield its address."""
    with web_server(environment, folder, application) as server:
        yield server.address
