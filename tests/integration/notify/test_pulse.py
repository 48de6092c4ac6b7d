"""The sign of life: called while all is well, by one of many, and silent otherwise."""

from datetime import timedelta

import pytest

from approvals_app.notify.models import Delivery, Pulse
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.services.pulse import pulse_claim, pulse_send
from core.clock import ClockTimestamp, database_now
from tasks_app.models import Worker
from tests.channels import channel, route
from tests.desk import Desk, parked
from tests.receiver import Receiver


@pytest.fixture
def well(desk: Desk, receiver: Receiver, settings) -> Receiver:
    settings.HANDRAIL_HEARTBEAT_URL = receiver.url
    now = database_now()
    Worker.objects.create(name="w", host="h", pid=1, pool="prefork", started_at=now, seen_at=now)
    return receiver


def test_it_is_called_once_an_interval_however_many_sweepers_there_are(well: Receiver):
    assert [pulse_claim() for _ in range(3)] == [True, False, False]
    pulse_send()
    assert len(well.got) == 1
    assert Pulse.objects.get().answer == "204"
    Pulse.objects.update(beat_at=ClockTimestamp() - timedelta(seconds=61))
    assert pulse_claim()


def test_it_is_silent_where_no_worker_lives(well: Receiver):
    Worker.objects.all().delete()
    assert not pulse_claim()


def test_it_is_silent_where_messages_do_not_get_out(well: Receiver, desk: Desk):
    route(channel(desk.workspace, "webhook", well.url))
    parked(desk)
    deliveries_plan()
    assert pulse_claim()
    Pulse.objects.update(beat_at=ClockTimestamp() - timedelta(seconds=61))
    Delivery.objects.update(due_at=ClockTimestamp() - timedelta(minutes=6))
    assert not pulse_claim()


def test_without_an_address_there_is_none(well: Receiver, settings):
    settings.HANDRAIL_HEARTBEAT_URL = ""
    assert not pulse_claim()
