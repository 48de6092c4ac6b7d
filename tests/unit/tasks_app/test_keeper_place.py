"""Keepers' sockets: each worker has its own; what died without removing it is removed by the next that starts."""

import socket
from pathlib import Path

import pytest

from tasks_app.keeper import place


def reached(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s")


def test_a_socket_whose_worker_and_keeper_are_gone_is_removed_and_a_living_one_stays(folder: Path) -> None:
    dead, gone = place.listen(folder)
    living, stays = place.listen(folder)
    dead.close()
    assert gone.exists()
    own, mine = place.listen(folder)
    assert sorted(folder.iterdir()) == sorted([stays, mine])
    assert reached(stays)
    assert reached(mine)
    living.close()
    own.close()
