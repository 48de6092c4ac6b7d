"""Who may have been told is told that it is over: also by a try whose answer was lost, or which nobody noted."""

from datetime import timedelta

import pytest

from approvals_app.notify.models import Channel, Delivery
from approvals_app.notify.services.alerts import alerts_watch
from approvals_app.notify.services.plan import deliveries_plan
from approvals_app.notify.services.replay import delivery_replay
from core.clock import ClockTimestamp
from tasks_app.models import Status, Task
from tests.channels import channel, due_now, route, told
from tests.desk import Desk, as_person, decide, parked, task_create
from tests.receiver import LOST, Receiver


@pytest.fixture
def pager(desk: Desk, receiver: Receiver) -> Channel:
    made = channel(desk.workspace, "webhook", receiver.url)
    route(made, "alerts", rule="stopped")
    route(made)
    return made


def stopped(desk: Desk) -> Task:
    task = task_create(desk)
    Task.objects.filter(pk=task.pk).update(status=Status.QUARANTINED)
    alerts_watch()
    return task


def over(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(status=Status.QUEUED)
    alerts_watch()


def rows() -> list[tuple[str, str]]:
    """Plan and send until nothing is left; return what there is."""
    for _ in range(3):
        due_now()
        found = told()
    return [(one.kind, one.state) for one in found]


def test_who_took_an_alert_and_whose_answer_was_lost_is_told_that_it_is_over(desk: Desk, pager, receiver: Receiver):
    receiver.answers.append(LOST)
    task = stopped(desk)
    (raised,) = told()
    assert (raised.state, len(receiver.got)) == ("waiting", 1)  # it has it, and we do not know
    over(task)
    assert rows() == [("alert.raised", "quiet"), ("alert.cleared", "sent")]
    assert [one.headers["webhook-id"] for one in receiver.got] == [str(one.pk) for one in told()]
    assert Delivery.objects.first().log[-1]["said"] == "over meanwhile: its end is told"


def test_what_a_process_sent_and_did_not_note_before_it_died_is_told_to_be_over(desk: Desk, pager, receiver: Receiver):
    request = parked(desk)
    deliveries_plan()
    Delivery.objects.update(claimed_until=ClockTimestamp() - timedelta(seconds=1), tries=1)
    decide(request, desk.rhea)
    assert rows() == [("approval.requested", "quiet"), ("approval.settled", "sent")]


def test_what_is_over_when_a_person_sends_it_again_is_told_to_be_over(desk: Desk, pager, receiver: Receiver):
    task = stopped(desk)
    (raised,) = told()
    delivery_replay(delivery=raised.pk, principal=as_person(desk.silas, desk.workspace))
    over(task)
    assert rows() == [("alert.raised", "quiet"), ("alert.cleared", "sent")]


def test_what_was_tried_before_its_channel_was_switched_off_is_told_to_be_over_once_it_is(
    desk: Desk, pager, receiver: Receiver
):
    receiver.answers.append(LOST)
    task = stopped(desk)
    told()
    Channel.objects.update(enabled=False)
    assert rows() == [("alert.raised", "quiet")]
    Channel.objects.update(enabled=True)
    over(task)
    assert rows() == [("alert.raised", "quiet"), ("alert.cleared", "sent")]


def test_who_was_never_told_is_not_told_that_it_is_over(desk: Desk, pager, receiver: Receiver):
    task = stopped(desk)
    deliveries_plan()
    over(task)
    assert rows() == [("alert.raised", "quiet")]
    assert receiver.got == []
