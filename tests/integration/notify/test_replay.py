"""A person sends again what was given up, or sent: under the same id, and beside whoever is still at an earlier try."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction

from approvals_app.notify.models import Delivery
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.services.replay import CannotReplay, delivery_replay
from approvals_app.notify.services.send import delivery_send
from core.clock import ClockTimestamp
from core.errors import Forbidden, NotFound
from tests.channels import channel, due_now, route, told
from tests.desk import Desk, as_person, parked
from tests.locks import lock_is_awaited
from tests.processes import wait_for
from tests.receiver import Receiver


@pytest.fixture
def hook(desk: Desk, receiver: Receiver):
    made = channel(desk.workspace, "webhook", receiver.url)
    route(made)
    return made


def test_what_nobody_takes_is_given_up_and_a_person_sends_it_again_under_the_same_id(
    desk: Desk, hook, receiver: Receiver, settings
):
    settings.HANDRAIL_NOTIFY_RETRY = [5.0]
    receiver.answers.extend([500, 500])
    parked(desk)
    told()
    due_now()
    (delivery,) = told()
    assert delivery.state == "dead"
    operator = as_person(desk.silas, desk.workspace)
    with pytest.raises(Forbidden):
        delivery_replay(delivery=delivery.pk, principal=as_person(desk.vera, desk.workspace))
    with pytest.raises(NotFound):
        delivery_replay(delivery=delivery.pk, principal=as_person(desk.tobin, desk.tobin.memberships.first().workspace))
    delivery_replay(delivery=delivery.pk, principal=operator)
    with pytest.raises(CannotReplay):
        delivery_replay(delivery=delivery.pk, principal=operator)
    receiver.answers.append(500)
    told()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries) == ("waiting", 3)  # the table of pauses begins anew, the number goes on
    due_now()
    told()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.replayed_by) == ("sent", desk.silas)
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1


def again(desk: Desk) -> None:
    delivery_replay(delivery=Delivery.objects.get().pk, principal=as_person(desk.silas, desk.workspace))


@contextmanager
def sending(receiver: Receiver) -> Iterator[None]:
    """Send the delivery from a thread of its own, answered at the end of the block."""
    answered, before = threading.Event(), len(receiver.got)
    receiver.holds.append(answered)

    def send() -> None:
        try:
            delivery_send(delivery=Delivery.objects.get().pk)
        finally:
            connection.close()

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        wait_for(lambda: len(receiver.got) > before, what="the receiver to have it")
        yield
    finally:
        answered.set()
        thread.join(30)


def test_a_try_from_before_it_was_sent_again_writes_nothing_over_the_try_that_followed(desk: Desk, hook, receiver):
    parked(desk)
    deliveries_plan()
    with ExitStack() as third:
        with sending(receiver):  # and stopped until its claim has run out
            Delivery.objects.update(claimed_until=ClockTimestamp() - timedelta(seconds=1))
            assert [one.state for one in told()] == ["sent"]
            again(desk)
            third.enter_context(sending(receiver))
        held = Delivery.objects.get()
        assert held.state == "waiting"
        assert held.claimed_until
    sent = Delivery.objects.get()
    assert (sent.state, [one.get("try") for one in sent.log]) == ("sent", [2, None, 3])


def test_of_two_who_send_it_again_at_once_neither_loses_a_line_of_the_log(desk: Desk, hook, receiver):
    parked(desk)
    told()
    other = threading.Thread(target=lambda: (again(desk), connection.close()), daemon=True)
    with transaction.atomic():
        row = Delivery.objects.select_for_update().get()
        other.start()
        wait_for(lock_is_awaited, what="the other to wait for the row")
        # Meanwhile it was sent again, and has arrived.
        Delivery.objects.filter(pk=row.pk).update(tries=2, log=[*row.log, {"at": "", "said": "another"}])
    other.join(30)
    said = [one["said"] for one in Delivery.objects.get().log]
    assert said == ["the receiver answered 204", "another", "sent again by silas"]
