"""Wake-ups are counted truly: an emptied broker holds none, and that is not the same as no broker."""

import threading

import redis
from django.conf import settings
from kombu import Connection

from tasks_app import wake
from tasks_app.wake import wake_now, wake_ups_waiting
from tests.people import People
from tests.records import new_task


def test_an_emptied_broker_holds_no_wake_up_and_takes_the_next(people: People) -> None:
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.flushdb()
    client.close()
    assert wake_ups_waiting() == 0
    assert wake_now(new_task(people.workspace, people.rhea).id)
    assert wake_ups_waiting() == 1


def test_senders_one_after_the_other_share_a_connection_whatever_their_threads(people: People) -> None:
    """A web process serves each request in a thread of its own: connecting takes longer than a decision."""
    task, broker = new_task(people.workspace, people.rhea).id, wake.Broker()
    used: list[int] = []

    def send() -> None:
        broker.use(lambda connection: used.append(id(connection)))

    for _ in range(3):
        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
    assert len(set(used)) == 1
    assert wake_now(task)


def test_a_connection_that_broke_is_replaced_and_so_is_what_else_was_idle() -> None:
    broker, tries = wake.Broker(), []
    both = threading.Barrier(2)

    def together(connection: Connection) -> None:
        both.wait(10)
        connection.default_channel.client.ping()

    threads = [threading.Thread(target=broker.use, args=[together]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(broker._idle) == 2
    old = list(broker._idle)

    def fails_on_old(connection: Connection) -> str:
        tries.append(any(connection is one for one in old))
        if tries[-1]:
            raise ConnectionResetError
        return "sent"

    assert broker.use(fails_on_old) == "sent"
    assert tries == [True, False]
    assert len(broker._idle) == 1
