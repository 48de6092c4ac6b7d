"""The door before the broker: the one message that is meant is lost, or delivered twice; all else passes."""

from collections.abc import Iterator

import pytest
import redis

from chaos_app.drills.broker_door import BrokerDoor, Plan, broker_door_start
from core.embedded.folder import claimed
from core.embedded.valkey import Valkey

Told = list[str]


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[redis.Redis, BrokerDoor]]:
    folder = tmp_path_factory.mktemp("b")
    with claimed(folder / "var") as var:
        server = Valkey(var)
        server.start()
        try:
            with broker_door_start(server=server.socket, path=folder / "door") as door:
                client = redis.Redis.from_url(f"unix://{folder / 'door'}")
                yield client, door
                client.close()
        finally:
            server.stop()


def armed(door: BrokerDoor, fate: str) -> Told:
    told: Told = []
    door.arm(Plan(fate, b"task-7", lambda at, what: told.append(what)))
    return told


def test_a_message_is_lost_once_and_its_sender_believes_that_it_was_taken(
    broker: tuple[redis.Redis, BrokerDoor],
) -> None:
    client, door = broker
    told = armed(door, "lost")
    assert client.lpush("celery", "about task-7") == 1
    assert client.llen("celery") == 0
    assert client.lpush("celery", "about task-7") == 1
    assert client.lrange("celery", 0, -1) == [b"about task-7"]
    assert len(told) == 1
    assert "lost" in told[0]


def test_a_message_is_delivered_twice_once(broker: tuple[redis.Redis, BrokerDoor]) -> None:
    client, door = broker
    told = armed(door, "twice")
    client.lpush("celery", "about task-7")
    client.lpush("celery", "about task-8")
    assert client.lrange("celery", 0, -1) == [b"about task-8", b"about task-7", b"about task-7"]
    assert len(told) == 1


def test_what_contains_the_task_and_is_no_message_passes(broker: tuple[redis.Redis, BrokerDoor]) -> None:
    client, door = broker
    told = armed(door, "lost")
    client.set("task-7", "kept" * 20000)
    assert client.get("task-7") == b"kept" * 20000
    assert told == []
