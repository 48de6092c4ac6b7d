"""The side of the slices: what a keeper was told is told again to the one that takes its place."""

import socket
import subprocess
import time
from pathlib import Path
from uuid import uuid4

from tasks_app.keeper.client import Client, Seat
from tasks_app.keeper.protocol import Message, Reader
from tasks_app.leases import WorkerIdentity


def heard(listener: socket.socket) -> list[Message]:
    """Take the next connection, hear what is said first, and hang up."""
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(5.0)
        reader, messages = Reader(connection), list[Message]()
        while not any(one["do"] == "hello" for one in messages):
            messages += reader.read() or []
    return messages


def test_sandboxes_that_still_run_are_told_to_each_keeper_that_comes(tmp_path: Path) -> None:
    path = str(tmp_path / "keeper")
    client = Client(Seat(path=path, worker=WorkerIdentity(id=uuid4(), name="w", host="h", pid=1)))
    until = time.monotonic() + 60
    with subprocess.Popen(["sleep", "60"]) as runs, socket.socket(socket.AF_UNIX) as listener:
        try:
            with subprocess.Popen(["sleep", "60"]) as ended:
                client.sandbox(ended.pid, until)
                ended.kill()
            client.sandbox(runs.pid, until)
            listener.bind(path)
            listener.listen()
            listener.settimeout(5.0)
            for _ in range(2):
                told = [one for one in heard(listener) if one["do"] == "sandbox"]
                assert told == [{"do": "sandbox", "pid": runs.pid, "until": until}]
        finally:
            runs.kill()
