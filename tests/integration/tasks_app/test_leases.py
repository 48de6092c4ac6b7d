"""Claims, renewals and losses in Postgres: who may run a task, and who no longer may."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from core.clock import database_now
from tasks_app import workers
from tasks_app.leases import Lease, Renewal, lease_claim, lease_renew
from tasks_app.losses import Loss, back_off, lease_lose
from tasks_app.models import Status, Task, Worker
from tasks_app.record.append import Stale, Token, append
from tasks_app.record.events import SliceReleased
from tests.integration.tasks_app.conftest import WORKER, due, event, kinds

pytestmark = pytest.mark.django_db(transaction=True)
KILLED = "signal SIGKILL"  # of the slice's own process, whose worker lived on and said so


def claim(task: Task) -> Lease:
    lease = lease_claim(task=task.pk, worker=WORKER)
    assert lease is not None
    return lease


def lose(task: Task, lease: Lease, **more: object) -> bool:
    return lease_lose(task=task.pk, nonce=lease.token.nonce, loss=Loss(seen="process gone", **more), actor="sweeper")


def make_due(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(wake_at=database_now())


def test_a_claim_makes_the_task_running_under_a_new_token_that_its_event_carries(people):
    task = due(people)
    lease = claim(task)
    task.refresh_from_db()
    claimed = event(task.pk, "slice.claimed")
    assert (task.status, task.lease_holder, task.wake_at) == ("running", "w1", None)
    assert (task.lease_epoch, task.lease_nonce) == (lease.token.epoch, lease.token.nonce) == (1, task.lease_nonce)
    assert (claimed.epoch, claimed.data["nonce"], claimed.data["place"]) == (1, str(lease.token.nonce), "step 1")
    assert (lease.head_seq, lease.took_over) == (claimed.seq, False)


def test_a_second_message_for_a_held_task_is_a_no_op(people):
    task = due(people)
    claim(task)
    make_due(task)
    assert lease_claim(task=task.pk, worker=WORKER) is None
    assert kinds(task.pk) == ["task.created", "slice.claimed"]


def test_a_message_that_is_too_early_finds_no_row_and_is_no_failure():
    assert lease_claim(task=uuid4(), worker=WORKER) is None


def test_what_is_not_due_is_not_claimed(people):
    task = due(people)
    Task.objects.filter(pk=task.pk).update(wake_at=database_now() + timedelta(hours=1))
    assert lease_claim(task=task.pk, worker=WORKER) is None
    Task.objects.filter(pk=task.pk).update(wake_at=None)
    assert lease_claim(task=task.pk, worker=WORKER) is None


def test_a_lease_that_ran_out_is_not_taken_by_a_mere_message(people):
    task = due(people)
    claim(task)
    make_due(task)
    Task.objects.filter(pk=task.pk).update(lease_until=database_now() - timedelta(seconds=9))
    assert lease_claim(task=task.pk, worker=WORKER) is None


def test_of_many_claims_at_once_one_wins(people):
    task, answers = due(people), []

    def race() -> None:
        try:
            answers.append(lease_claim(task=task.pk, worker=WORKER))
        finally:
            connection.close()

    racers = [threading.Thread(target=race) for _ in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert len([answer for answer in answers if answer]) == 1
    assert kinds(task.pk).count("slice.claimed") == 1


def test_a_paused_task_keeps_its_status_under_a_lease(people):
    task = due(people)
    Task.objects.filter(pk=task.pk).update(status=Status.PAUSED)
    claim(task)
    task.refresh_from_db()
    assert task.status == "paused"


def test_running_without_a_lease_is_refused_by_the_database(people):
    task = due(people)
    with pytest.raises(IntegrityError, match="task_running_has_lease"), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(status=Status.RUNNING)


def test_a_renewal_moves_the_end_of_the_lease(people):
    task = due(people)
    lease = claim(task)
    Task.objects.filter(pk=task.pk).update(lease_until=database_now() + timedelta(seconds=1))
    assert lease_renew(leases=[(task.pk, lease.token)]) == {lease.token.nonce: Renewal.RENEWED}
    task.refresh_from_db()
    assert task.lease_until > database_now() + timedelta(seconds=3)


def test_a_renewal_with_an_old_token_changes_nothing_even_under_the_same_name(people):
    task = due(people)
    old = claim(task)
    assert lose(task, old)
    new = claim(task)
    before = Task.objects.get(pk=task.pk).lease_until
    assert lease_renew(leases=[(task.pk, old.token)]) == {old.token.nonce: Renewal.LOST}
    assert Task.objects.get(pk=task.pk).lease_until == before
    assert new.took_over
    assert new.token.epoch == old.token.epoch + 1


def test_a_renewal_with_the_right_epoch_and_another_nonce_changes_nothing(people):
    task = due(people)
    lease = claim(task)
    other = Token(epoch=lease.token.epoch, nonce=uuid4())
    before = Task.objects.get(pk=task.pk).lease_until
    assert lease_renew(leases=[(task.pk, other)]) == {other.nonce: Renewal.LOST}
    assert Task.objects.get(pk=task.pk).lease_until == before


def test_a_renewal_passes_over_a_locked_row_and_renews_the_others(people):
    one, two = due(people), due(people)
    first, second = claim(one), claim(two)
    locked, release = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic():
            Task.objects.select_for_update().get(pk=one.pk)
            locked.set()
            release.wait(10)
        connection.close()

    holder = threading.Thread(target=lock)
    holder.start()
    try:
        assert locked.wait(10)
        answers = lease_renew(leases=[(one.pk, first.token), (two.pk, second.token)])
    finally:
        release.set()
        holder.join()
    assert answers == {first.token.nonce: Renewal.BUSY, second.token.nonce: Renewal.RENEWED}


def test_an_append_under_a_lost_token_is_refused_and_touches_nothing(people):
    task = due(people)
    lease = claim(task)
    assert lose(task, lease)
    with pytest.raises(Stale) as caught:
        append(
            stream=task.pk,
            events=[SliceReleased(why="finished", worker="w1")],
            actor="worker:w1",
            token=lease.token,
            expected=lease.head_seq,
            task={"lease_nonce": None},
        )
    assert caught.value.fenced
    assert kinds(task.pk) == ["task.created", "slice.claimed", "slice.lost"]


def test_a_loss_is_declared_once(people):
    task = due(people)
    lease = claim(task)
    assert [lose(task, lease), lose(task, lease)] == [True, False]
    assert kinds(task.pk).count("slice.lost") == 1


def test_losses_are_counted_at_their_place_with_back_off_until_the_task_is_quarantined(people):
    task = due(people)
    for losses, delay in [(1, 0.0), (2, 1.0)]:
        lose(task, claim(task), exit_status=KILLED)
        task.refresh_from_db()
        assert (task.status, task.losses, task.loss_place) == ("queued", losses, "step 1")
        waited = (task.wake_at - event(task.pk, "slice.lost", losses - 1).at).total_seconds()
        assert waited == pytest.approx(delay, abs=0.01)
        make_due(task)
    lose(task, claim(task))
    task.refresh_from_db()
    quarantined = event(task.pk, "task.quarantined")
    assert (task.status, task.wake_at, task.lease_nonce) == ("quarantined", None, None)
    assert quarantined.data == {"place": "step 1", "losses": 3}
    assert lease_claim(task=task.pk, worker=WORKER) is None


@pytest.mark.parametrize(
    "ends", [(None, KILLED), (KILLED, None), (None, None)], ids=["worker, process", "process, worker", "two workers"]
)
def test_who_once_went_down_with_a_whole_worker_goes_on_at_once_after_the_next_loss(people, ends):
    task = due(people)
    for losses, status in enumerate(ends, start=1):
        lose(task, claim(task), exit_status=status)
        task.refresh_from_db()
        assert (task.status, task.losses) == ("queued", losses)
        assert task.wake_at == event(task.pk, "slice.lost", losses - 1).at
    lose(task, claim(task), exit_status=KILLED)
    task.refresh_from_db()
    assert (task.status, task.losses) == ("quarantined", 3)


def test_who_goes_down_with_workers_again_and_again_waits_as_well(people, monkeypatch):
    monkeypatch.setattr(workers, "loss_limit", lambda agent: 10)
    task = due(people)
    for losses, delay in [(1, 0.0), (2, 0.0), (3, 1.0), (4, 2.0)]:
        lose(task, claim(task))
        task.refresh_from_db()
        waited = (task.wake_at - event(task.pk, "slice.lost", losses - 1).at).total_seconds()
        assert waited == pytest.approx(delay, abs=0.01)
        make_due(task)


def test_a_loss_that_is_nobodys_fault_is_not_counted(people):
    task = due(people)
    for _ in range(5):
        lose(task, claim(task), counted=False)
        make_due(task)
    task.refresh_from_db()
    assert (task.status, task.losses) == ("queued", 0)


def test_back_off_grows_and_is_bounded():
    assert [back_off(losses) for losses in (1, 2, 3, 4, 99)] == [0, 1, 2, 4, 60]


def test_a_task_over_its_agents_limit_waits_for_it_and_says_so_once(people):
    first, second = due(people, "slice.single"), due(people, "slice.single")
    lease = claim(first)
    for _ in range(2):
        assert lease_claim(task=second.pk, worker=WORKER) is None
        second.refresh_from_db()
        assert (second.status, second.wait["kind"]) == ("waiting", "limit")
        assert second.wake_at > database_now()
        make_due(second)
    assert kinds(second.pk) == ["task.created", "wait.started"]
    lose(first, lease)
    make_due(second)
    claim(second)
    assert kinds(second.pk)[1:] == ["wait.started", "wait.ended", "slice.claimed"]


def test_a_task_whose_version_no_living_worker_carries_waits_for_one(people):
    task = due(people)
    Task.objects.filter(pk=task.pk).update(agent_version=7)
    assert lease_claim(task=task.pk, worker=WORKER) is None
    task.refresh_from_db()
    assert (task.status, task.wait["kind"], task.wait["on"]["version"]) == ("waiting", "worker_version", 7)


def test_a_task_that_another_living_worker_carries_is_left_to_it(people):
    task = due(people)
    Task.objects.filter(pk=task.pk).update(agent_version=7)
    now = database_now()
    carrier = Worker.objects.create(
        name="w7",
        host="there",
        pid=7,
        pool="prefork",
        carries={"agents": {"slice.work": [7]}},
        started_at=now,
        seen_at=now,
    )
    assert lease_claim(task=task.pk, worker=WORKER) is None
    task.refresh_from_db()
    assert task.status == "queued"
    Worker.objects.filter(pk=carrier.pk).update(seen_at=now - timedelta(seconds=9))
    assert not workers.version_carried(agent="slice.work", version=7)


def test_the_limit_of_losses_is_the_agents_own_as_its_newest_worker_says(people):
    task = due(people)
    now = database_now()
    Worker.objects.create(
        name="w7",
        host="there",
        pid=7,
        pool="prefork",
        carries={"losses": {"slice.work": 1}},
        started_at=now,
        seen_at=now,
    )
    lose(task, claim(task))
    task.refresh_from_db()
    assert task.status == "quarantined"
