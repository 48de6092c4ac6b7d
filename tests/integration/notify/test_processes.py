"""Real sweepers send, each message once; one that is killed is followed; without any, a web process says so."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from approvals_app.notify.models import Alert, AlertRule, Delivery
from tests.channels import channel, route
from tests.desk import Desk, parked
from tests.processes import kill, running, wait_for
from tests.receiver import Receiver
from tests.serving import serving


@pytest.fixture
def environment(child_environment: dict[str, str], receiver: Receiver) -> dict[str, str]:
    return child_environment | {"HANDRAIL_NOTIFY_PRIVATE": "1", "HANDRAIL_HEARTBEAT_URL": receiver.url + "/alive"}


@pytest.fixture
def sweepers(environment: dict[str, str], tmp_path: Path) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        stack.processes = [
            stack.enter_context(running("manage.py", "sweep", env=environment, log=tmp_path / f"sweeper-{number}.log"))
            for number in range(3)
        ]
        yield stack


def test_three_sweepers_send_each_message_once_and_none_says_all_is_well_without_a_worker(
    desk: Desk, receiver: Receiver, sweepers: ExitStack
):
    route(channel(desk.workspace, "webhook", receiver.url))
    for number in range(8):
        parked(desk, arguments={"path": f"/{number}"})
    wait_for(lambda: Delivery.objects.filter(state="sent").count() == 8, seconds=90, what="eight deliveries")
    ids = [got.headers["webhook-id"] for got in receiver.got if "webhook-id" in got.headers]
    assert sorted(ids) == sorted(str(one.pk) for one in Delivery.objects.all())
    assert not [got for got in receiver.got if got.path.endswith("/alive")]


def test_a_sweeper_that_is_killed_while_it_sends_is_followed_by_another_under_the_same_id(
    desk: Desk, receiver: Receiver, sweepers: ExitStack, monkeypatch
):
    receiver.hold.clear()
    route(channel(desk.workspace, "webhook", receiver.url))
    parked(desk)
    wait_for(lambda: receiver.got, seconds=90, what="the first try")
    for process in sweepers.processes[1:]:
        kill(process.pid)
    # Whichever had it: its claim ends, as it would by the clock.
    receiver.hold.set()
    Delivery.objects.filter(state="waiting").update(claimed_until=None)
    wait_for(lambda: Delivery.objects.get().state == "sent", seconds=90, what="the delivery")
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1


@pytest.mark.timeout(240)
def test_where_no_sweeper_lives_a_web_process_says_so_by_the_channels(
    desk: Desk, receiver: Receiver, environment: dict[str, str], tmp_path: Path
):
    route(channel(desk.workspace, "webhook", receiver.url), "alerts", rule="no-sweeper")
    AlertRule.objects.create(name="no-sweeper", holds_for=0)
    with serving(environment | {"HANDRAIL_STAND_IN_SECONDS": "0.5"}, tmp_path):
        wait_for(lambda: receiver.got, seconds=60, what="the alert")
        assert json.loads(receiver.got[0].body)["data"]["title"] == "No sweeper lives"
        with running("manage.py", "sweep", env=environment, log=tmp_path / "sweeper.log"):
            over = Alert.objects.filter(rule="no-sweeper").exclude(cleared_at=None)
            wait_for(over.exists, seconds=90, what="the alert to be over")
            wait_for(lambda: len(receiver.got) == 2, seconds=60, what="the word that it is over")
    assert json.loads(receiver.got[1].body)["type"] == "alert.cleared"
