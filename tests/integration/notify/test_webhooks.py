"""Signed webhooks: at least once, under one id, tried again by a table."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connections
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from approvals_app.notify.models import Delivery
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.services.send import delivery_send
from core.clock import ClockTimestamp
from tests.channels import channel, due_now, route, told
from tests.desk import PAY, Desk, decide, parked
from tests.receiver import Receiver


@pytest.fixture
def hook(desk: Desk, receiver: Receiver):
    made = channel(desk.workspace, "webhook", receiver.url)
    route(made)
    return made


def test_the_receiver_can_check_the_signature_and_nobody_else_can_make_it(desk: Desk, hook, receiver: Receiver):
    parked(desk)
    (delivery,) = told()
    (got,) = receiver.got
    assert got.headers["webhook-id"] == str(delivery.pk)
    said = Webhook(hook.secret).verify(got.body, got.headers)
    assert said["type"] == "approval.requested"
    with pytest.raises(WebhookVerificationError):
        Webhook(hook.secret).verify(got.body.replace("requested", "settled"), got.headers)
    assert delivery.state == "sent"


def test_a_message_has_a_link_and_neither_arguments_nor_a_decision_nor_a_token(desk: Desk, hook, receiver, settings):
    settings.PUBLIC_URL = "https://handrail.example"
    request = parked(desk, PAY, name="pay", arguments={"amount": "90.00", "to": "s3cret-account"})
    told()
    body = receiver.got[0].body
    assert json.loads(body)["data"]["link"] == f"https://handrail.example/approvals/{request.pk}/"
    assert "s3cret-account" not in body
    assert "90.00" not in body
    decide(request, desk.rhea, reason="fine by rhea")
    told()
    after = json.loads(receiver.got[1].body)
    assert after["type"] == "approval.settled"
    assert not {"approved", "denied", "rhea", "fine by rhea"} & set(json.dumps(after).lower().split('"'))


def test_a_try_that_failed_is_repeated_by_the_table_under_the_same_id(desk: Desk, hook, receiver, settings):
    settings.HANDRAIL_NOTIFY_RETRY = [50.0, 600.0]
    receiver.answers.extend([500, 503])
    parked(desk)
    (delivery,) = told()
    assert (delivery.state, delivery.tries) == ("waiting", 1)
    told()  # not due yet
    assert len(receiver.got) == 1
    waits = []
    for _ in range(2):
        delivery.refresh_from_db()
        waits.append(delivery.due_at - datetime.fromisoformat(delivery.log[-1]["at"]))
        due_now()
        told()
    assert waits == [timedelta(seconds=50), timedelta(seconds=600)]
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries) == ("sent", 3)
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1
    assert [one["said"] for one in delivery.log] == [
        "the receiver answered 500",
        "the receiver answered 503",
        "the receiver answered 204",
    ]


def test_a_receiver_that_says_gone_is_not_asked_again_and_redirects_are_not_followed(desk: Desk, hook, receiver):
    receiver.answers.extend([410, 307])
    parked(desk)
    parked(desk)
    gone, moved = told()
    assert (gone.state, moved.state) == ("dead", "waiting")
    assert moved.log[-1]["said"] == "the receiver answered 307"
    assert len(receiver.got) == 2


def test_what_was_decided_meanwhile_stays_quiet(desk: Desk, hook, receiver):
    receiver.answers.append(500)
    request = parked(desk)
    told()
    decide(request, desk.rhea)
    due_now()
    (delivery,) = told()
    assert (delivery.state, len(receiver.got)) == ("quiet", 1)
    assert delivery.log[-1]["said"] == "nothing is left to decide"
    decide(parked(desk), desk.rhea)
    assert [one.kind for one in told()] == ["approval.requested", "approval.settled"]  # of what was tried


def test_of_many_that_send_the_same_delivery_one_does(desk: Desk, hook, receiver):
    parked(desk)
    receiver.hold.clear()

    def both(_: int) -> bool:
        try:
            deliveries_plan()
            return delivery_send(delivery=Delivery.objects.get().pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(both, one) for one in range(8)]
        threading.Timer(0.5, receiver.hold.set).start()
        assert sorted(one.result() for one in tries) == [False] * 7 + [True]
    assert len(receiver.got) == 1


def test_whoever_dies_while_sending_is_followed_by_another_under_the_same_id(desk: Desk, hook, receiver):
    parked(desk)
    deliveries_plan()
    # What a process leaves that was killed after the claim: nothing is noted.
    Delivery.objects.update(claimed_until=ClockTimestamp() + timedelta(seconds=60), tries=1)
    assert told()[0].state == "waiting"
    Delivery.objects.update(claimed_until=ClockTimestamp() - timedelta(seconds=1))
    (delivery,) = told()
    assert (delivery.state, delivery.tries, len(receiver.got)) == ("sent", 2, 1)


def test_a_late_note_does_not_write_over_what_followed(desk: Desk, hook, receiver):
    parked(desk)
    deliveries_plan()
    receiver.hold.clear()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(lambda: (delivery_send(delivery=Delivery.objects.get().pk), connections.close_all()))
        while not receiver.got:
            pass
        Delivery.objects.update(tries=2, state="waiting", log=[{"at": "", "said": "another"}])
        receiver.hold.set()
        late.result()
    assert [one["said"] for one in Delivery.objects.get().log] == ["another"]
