"""A recovery of the embedded Postgres that takes long is waited for: ended, it would begin anew at each start."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.embedded.errors import ServiceSilentError
from core.embedded.postgres import Postgres

STARTING = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"


@pytest.fixture
def postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Postgres:
    """One that has its data, and whose process lives; it answers at the third question."""
    made = Postgres(tmp_path)
    made.data.mkdir(parents=True)
    made.run.mkdir(parents=True, exist_ok=True)
    answers = iter([False, False, True])
    monkeypatch.setattr(made, "launch", lambda: setattr(made, "process", SimpleNamespace(poll=lambda: None)))
    monkeypatch.setattr(made, "_answers", lambda: next(answers))
    monkeypatch.setattr(made, "_see_to_database", lambda: None)
    monkeypatch.setattr(made, "stop", lambda: None)
    return made


# A process of its own: libpq asks without letting another thread run.
SERVER = f"""
import socket, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print("listens", flush=True)
    while True:
        with listener.accept()[0] as asked:
            asked.recv(4096)
            asked.sendall(b"E" + ({len(STARTING) + 4}).to_bytes(4) + {STARTING!r})
"""


@pytest.fixture
def _says_that_it_starts(postgres: Postgres) -> Iterator[None]:
    """Answer every connection as a server does that is still recovering."""
    command = [sys.executable, "-c", SERVER, str(postgres.run / ".s.PGSQL.5432")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout
        assert server.stdout.readline() == b"listens\n"
        yield
        server.kill()


@pytest.mark.usefixtures("_says_that_it_starts")
def test_a_server_that_says_that_it_recovers_is_waited_for(postgres: Postgres) -> None:
    postgres.start(seconds=0)


def test_a_server_that_says_nothing_is_given_up(postgres: Postgres) -> None:
    with pytest.raises(ServiceSilentError):
        postgres.start(seconds=0)
