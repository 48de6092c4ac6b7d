"""Wake-ups are counted truly: an emptied broker holds none, and that is not the same as no broker."""

import redis
from django.conf import settings

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
