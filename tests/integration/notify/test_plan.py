"""Who is told of what, when: staggered, quiet where nothing is left to say, never buried by one runaway."""

from datetime import timedelta

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.notify.models import Channel, Delivery
from approvals_app.notify.services.plan import FLOOD, deliveries_plan
from approvals_app.services.expire import approvals_expire
from approvals_app.status import OnExpiry
from core.clock import ClockTimestamp, database_now
from core.errors import InvalidInput
from tests.channels import channel, route, told
from tests.desk import CLEAN, PAY, Desk, decide, group, parked, rule
from tests.receiver import Receiver


def older(request: ApprovalRequest, seconds: float) -> None:
    ApprovalRequest.objects.filter(pk=request.pk).update(requested_at=ClockTimestamp() - timedelta(seconds=seconds))


def mails(desk: Desk) -> None:
    for person in (desk.rhea, desk.silas, desk.owen, desk.vera, desk.tobin):
        person.email = f"{person.username}@example.com"
        person.save()


def test_people_are_told_first_and_the_louder_channel_only_if_nobody_has_decided(desk: Desk, receiver: Receiver):
    mails(desk)
    route(channel(desk.workspace, "people"))
    pager = channel(desk.workspace, "webhook", receiver.url, name="pager")
    route(pager, after=300)
    first, second = parked(desk), parked(desk)
    deliveries_plan()
    assert {one.channel.kind for one in Delivery.objects.all()} == {"people"}
    decide(first, desk.rhea)
    older(first, 301)
    older(second, 301)
    deliveries_plan()
    assert [one.subject for one in Delivery.objects.filter(channel=pager)] == [second.pk]


def test_only_those_who_may_decide_are_mailed_and_each_once(desk: Desk):
    mails(desk)
    route(channel(desk.workspace, "people"))
    parked(desk)  # owen owns the task: he never decides it
    assert deliveries_plan() == 2
    assert deliveries_plan() == 0
    assert {one.recipient for one in Delivery.objects.all()} == {"rhea@example.com", "silas@example.com"}


def test_where_nobody_has_an_address_that_is_listed_and_not_tried_for_ever(desk: Desk):
    route(channel(desk.workspace, "people"))
    parked(desk)
    assert (deliveries_plan(), deliveries_plan()) == (1, 0)
    delivery = Delivery.objects.get()
    assert delivery.state == "dead"
    assert "nobody to tell" in delivery.log[0]["said"]


def test_a_route_carries_its_group_its_tool_and_its_risk_only(desk: Desk, receiver: Receiver):
    hook = channel(desk.workspace, "webhook", receiver.url)
    route(hook, lowest_risk="high")
    low, high = parked(desk, CLEAN), parked(desk, PAY, name="pay")
    deliveries_plan()
    assert [one.subject for one in Delivery.objects.all()] == [high.pk]
    route(hook, tool="desk.clean")
    deliveries_plan()
    assert {one.subject for one in Delivery.objects.all()} == {low.pk, high.pk}
    group(desk, "night", desk.rhea)
    rule(desk, "night", 'tool == "desk.hush"', group="night")
    other = channel(desk.workspace, "webhook", receiver.url, name="night")
    route(other, group="night")
    deliveries_plan()
    assert not Delivery.objects.filter(channel=other).exists()


def test_a_group_that_is_asked_later_is_told_then(desk: Desk, receiver: Receiver):
    group(desk, "first", desk.rhea)
    group(desk, "second", desk.silas)
    rule(
        desk,
        "passes on",
        'tool == "desk.clean"',
        group="first",
        on_expiry=OnExpiry.ESCALATE,
        escalate_to="second",
        decide_within=60.0,
    )
    mails(desk)
    route(channel(desk.workspace, "people"))
    request = parked(desk)
    deliveries_plan()
    ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=ClockTimestamp() - timedelta(seconds=1))
    approvals_expire()
    deliveries_plan()
    told_ = [(one.kind, one.recipient) for one in Delivery.objects.order_by("pk")]
    assert told_ == [("approval.requested", "rhea@example.com"), ("approval.escalated", "silas@example.com")]


def test_one_runaway_does_not_bury_a_channel(desk: Desk, receiver: Receiver):
    route(channel(desk.workspace, "webhook", receiver.url))
    for number in range(FLOOD + 3):
        parked(desk, arguments={"path": f"/{number}"})
    parked(desk, PAY, name="pay")
    rows = told()
    clean = [one for one in rows if "desk.clean" in one.pile]
    assert sorted(one.state for one in clean) == ["quiet"] * 3 + ["sent"] * FLOOD
    assert [one.state for one in rows if "desk.pay" in one.pile] == ["sent"]
    Delivery.objects.update(made_at=database_now() - timedelta(hours=2))
    parked(desk)
    assert told()[-1].state == "sent"


def test_programs_are_told_when_nothing_is_left_to_decide_and_people_are_not(desk: Desk, receiver: Receiver):
    route(channel(desk.workspace, "webhook", receiver.url))
    route(channel(desk.workspace, "apprise", receiver.url.replace("http", "json", 1)))
    request = parked(desk)
    told()
    decide(request, desk.rhea)
    told()
    told()
    kinds = [(one.channel.kind, one.kind) for one in Delivery.objects.select_related("channel").order_by("pk")]
    assert sorted(kinds) == [
        ("apprise", "approval.requested"),
        ("webhook", "approval.requested"),
        ("webhook", "approval.settled"),
    ]


def test_what_still_waits_keeps_nobody_from_being_told_what_is_over(desk: Desk, receiver: Receiver, monkeypatch):
    route(channel(desk.workspace, "webhook", receiver.url))
    parked(desk)
    told()
    over = parked(desk)
    told()
    decide(over, desk.rhea)
    monkeypatch.setattr("approvals_app.notify.services.plan.BATCH", 1)
    told()
    assert Delivery.objects.get(kind="approval.settled").subject == over.pk


def test_a_channel_that_is_switched_off_says_nothing(desk: Desk, receiver: Receiver):
    hook = channel(desk.workspace, "webhook", receiver.url)
    route(hook)
    parked(desk)
    deliveries_plan()
    hook.enabled = False
    hook.save()
    assert [one.state for one in told()] == ["quiet"]
    parked(desk)
    assert deliveries_plan() == 0


def test_chat_gets_the_title_and_the_link(desk: Desk, receiver: Receiver):
    route(channel(desk.workspace, "apprise", receiver.url.replace("http", "json", 1)))
    request = parked(desk)
    (delivery,) = told()
    assert delivery.state == "sent"
    assert f"/approvals/{request.pk}/" in receiver.got[0].body
    assert "Approval needed: desk.clean of desk.agent" in receiver.got[0].body
    receiver.answers.append(500)
    parked(desk)
    assert told()[-1].log[-1]["said"] == "the service did not take it"


LONG = f"{'a' * 64}@{'.'.join(['b' * 50] * 4)}.example"  # a form takes it for an address, no delivery can hold it


def test_an_address_that_no_delivery_can_hold_is_refused_where_it_is_typed(desk: Desk):
    with pytest.raises(InvalidInput, match="at most 254 characters"):
        channel(desk.workspace, "email", f"ops@example.com, {LONG}")


def test_a_route_that_cannot_be_followed_keeps_no_other_from_being(desk: Desk, receiver: Receiver):
    long = channel(desk.workspace, "email", "ops@example.com")
    route(long)
    hook = channel(desk.workspace, "webhook", receiver.url)
    route(hook, after=1)
    Channel.objects.filter(pk=long.pk).update(address=LONG)  # saved before its length was looked at
    older(parked(desk), 2)
    assert deliveries_plan() == 1
    assert Delivery.objects.get().channel == hook
