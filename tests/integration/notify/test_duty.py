"""A receiver that hangs holds up its own channel and nothing else."""

from collections.abc import Iterator

import pytest

from approvals_app.notify.models import Channel, Delivery
from approvals_app.notify.services import duty
from approvals_app.notify.services.channels import channel_try
from approvals_app.notify.services.duty import notify_without_pulse
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.services.send import lanes_due
from tests.channels import channel, due_now, route
from tests.desk import Desk, parked
from tests.processes import wait_for
from tests.receiver import Receiver, receiving


@pytest.fixture
def hanging(receiver: Receiver) -> Iterator[Receiver]:
    """A receiver that takes and does not answer; what is in hand at the end is let go."""
    with receiving() as found:
        found.hold.clear()
        yield found
        found.hold.set()
        wait_for(lambda: not duty._mine, what="the threads to be done")


def sent(to: Channel) -> int:
    return Delivery.objects.filter(channel=to, state="sent").count()


def test_many_that_are_due_to_a_receiver_that_hangs_leave_the_others_their_threads(
    desk: Desk, receiver: Receiver, hanging: Receiver
):
    dead = channel(desk.workspace, "webhook", hanging.url, name="dead")
    for _ in range(duty.AT_ONCE * 2):
        channel_try(channel=dead, user=desk.rhea)
    due_now()
    good = channel(desk.workspace, "webhook", receiver.url, name="good")
    channel_try(channel=good, user=desk.rhea)
    wait_for(lambda: notify_without_pulse() >= 0 and sent(good), what="the good one's message")
    wait_for(lambda: hanging.got, what="the dead one's first")
    assert sent(dead) == 0
    assert Delivery.objects.filter(channel=dead, claimed_until__isnull=False).count() <= 1


def test_one_channel_gets_all_that_is_due_in_the_order_in_which_it_is_due(desk: Desk, receiver: Receiver):
    ours = channel(desk.workspace, "webhook", receiver.url)
    everything = duty.IN_A_ROW + 4
    for _ in range(everything):
        channel_try(channel=ours, user=desk.rhea)
    wait_for(lambda: notify_without_pulse() >= 0 and sent(ours) == everything, what="every message")
    wait_for(lambda: not duty._mine, what="the threads to be done")
    ids = [got.headers["webhook-id"] for got in receiver.got]
    assert ids == [str(pk) for pk in Delivery.objects.order_by("due_at", "pk").values_list("pk", flat=True)]


def test_all_that_mail_are_one_lane_since_they_have_one_server(desk: Desk, receiver: Receiver):
    for name in ("first", "second"):
        route(channel(desk.workspace, "email", f"{name}@harbour.example", name=name))
    desk.rhea.email = "rhea@harbour.example"
    desk.rhea.save()
    route(channel(desk.workspace, "people"))
    hook = channel(desk.workspace, "webhook", receiver.url)
    route(hook)
    parked(desk)
    deliveries_plan()
    lanes = lanes_due(most=100)
    assert set(lanes) == {"mail", str(hook.pk)}
    assert len(lanes["mail"]) == Delivery.objects.exclude(channel=hook).count() == 3
    assert [len(row) for row in lanes_due(most=1).values()] == [1, 1]
