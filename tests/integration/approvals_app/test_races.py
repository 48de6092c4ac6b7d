"""Deciders, cancels, deadlines and workers race from processes and connections of their own; one of them wins."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import Any, LiteralString

import psycopg
import pytest
from django.db import connection, transaction

from approvals_app.models import ApprovalRequest
from core.clock import ClockTimestamp, database_now
from tasks_app.models import Call, Event, Status, Task
from tests.conftest import database_url
from tests.desk import Desk, attempt, claim, decide, kinds, parked
from tests.rival import Rival

ROUNDS = 200
WAITING: LiteralString = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


@pytest.fixture
def rivals(desk: Desk, child_environment: dict[str, str]) -> Iterator[tuple[Rival, Rival]]:
    with closing(Rival(child_environment)) as one, closing(Rival(child_environment)) as other:
        yield one, other


def race(rivals: tuple[Rival, Rival], first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    """Give both their order at once; return their answers."""
    for rival, order in zip(rivals, (first, second), strict=True):
        rival.tell(**order)
    return [rival.answer() for rival in rivals]


def test_case_13_two_posts_100_ms_apart_are_one_decision_and_both_are_told_so(desk: Desk, rivals):
    request = parked(desk)
    order = {"do": "approved", "approval": request.pk, "user": "rhea"}
    rivals[0].tell(**order)
    time.sleep(0.1)  # the case's own distance, nothing is hoped for
    rivals[1].tell(**order)
    assert rivals[0].answer() == {"status": 200, "new": True, "decision": "approved"}
    assert rivals[1].answer() == {"status": 200, "new": False, "decision": "approved"}
    assert kinds(request.task_id).count("approval.decided") == 1
    assert attempt(request.task_id, "clean", claim(request.task)).admitted


@pytest.mark.timeout(300)
def test_case_14_a_approve_and_deny_at_the_same_instant_have_one_winner_200_times(desk: Desk, rivals):
    wins = {"approved": 0, "denied": 0}
    for number in range(ROUNDS):
        request = parked(desk)
        yes = {"do": "approved", "approval": request.pk, "user": "rhea"}
        no = {"do": "denied", "approval": request.pk, "user": "silas"}
        answers = race(rivals, *((yes, no) if number % 2 else (no, yes)))
        won = [answer for answer in answers if answer["status"] == 200]
        lost = [answer for answer in answers if answer["status"] == 409]
        assert (len(won), len(lost)) == (1, 1), answers
        decision = won[0]["decision"]
        wins[decision] += 1
        winner = "rhea" if decision == "approved" else "silas"
        assert lost[0]["detail"].startswith(f"Already {decision} by {winner} at ")
        assert kinds(request.task_id).count("approval.decided") == 1
        assert attempt(request.task_id, "clean", claim(request.task)).admitted == (decision == "approved")
    assert min(wins.values()) > 0, f"not a race: {wins}"


@pytest.mark.timeout(300)
def test_case_14_c_a_deadline_and_an_approve_at_the_same_instant_end_in_one_of_the_two(desk: Desk, rivals):
    ends = {"approved": 0, "expired": 0}
    ahead = 20  # ms; moved to where the two meet, however slow this machine is just now
    for _ in range(40):
        request = parked(desk)
        soon = ClockTimestamp() + timedelta(milliseconds=ahead)
        ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=soon)
        answer, _ = race(rivals, {"do": "approved", "approval": request.pk, "user": "rhea"}, {"do": "expire"})
        _until(lambda pk=request.pk: _finished(pk, rivals[1]))
        request.refresh_from_db()
        recorded = [kind for kind in kinds(request.task_id) if kind in {"approval.decided", "approval.expired"}]
        assert recorded == [f"approval.{'decided' if request.status == 'approved' else 'expired'}"]
        assert (answer["status"] == 200) == (request.status == "approved"), answer
        if request.status == "approved":
            assert request.decided_at < request.decide_by
        ends[request.status] += 1
        ahead += 7 if request.status == "expired" else -7
    assert min(ends.values()) > 0, f"not a race: {ends}"


def _finished(approval: Any, sweeper: Rival) -> bool:
    sweeper.tell(do="expire")
    sweeper.answer()
    return ApprovalRequest.objects.get(pk=approval).status != "requested"


def _until(condition: Callable[[], bool], *, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def test_case_14_variant_a_post_that_waits_for_the_lock_past_the_deadline_is_refused(desk: Desk, rivals):
    request = parked(desk)
    with closing(_elsewhere()) as watch, transaction.atomic():
        Task.objects.select_for_update().get(pk=request.task_id)  # whoever holds it, holds it past the deadline
        rivals[0].tell(do="approved", approval=request.pk, user="rhea")
        _until(lambda: _one(watch, WAITING) == 1)  # the post has begun, in time
        watch.execute("UPDATE approvals_app_approvalrequest SET decide_by = clock_timestamp() + interval '0.2 s'")
        _until(lambda: bool(_one(watch, "SELECT decide_by < clock_timestamp() FROM approvals_app_approvalrequest")))
    answer = rivals[0].answer()
    assert (answer["status"], answer["state"]) == (409, "expired")
    assert "approval.decided" not in kinds(request.task_id)


def _elsewhere() -> psycopg.Connection[Any]:
    return psycopg.connect(database_url(connection.settings_dict), autocommit=True)


def _one(connection: psycopg.Connection[Any], query: LiteralString) -> Any:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.timeout(300)
def test_case_16_b_cancel_and_approve_at_the_same_instant_never_run_after_the_cancel_200_times(desk: Desk, rivals):
    wins = {200: 0, 409: 0}
    for _ in range(ROUNDS):
        request = parked(desk)
        yes = {"do": "approved", "approval": request.pk, "user": "rhea"}
        answer, _ = race(rivals, yes, {"do": "cancel", "task": request.task_id})
        wins[answer["status"]] += 1
        request.refresh_from_db()
        assert (request.status, request.closed_reason) == ("voided", "task cancelled")
        task = Task.objects.get(pk=request.task_id)
        assert (task.status, task.wake_at, Call.objects.get(task=task).state) == (Status.CANCELLED, None, "voided")
        recorded = [kind for kind in kinds(task.pk) if kind in {"approval.decided", "approval.voided"}]
        approved_first = answer["status"] == 200
        assert recorded == (["approval.decided"] if approved_first else []) + ["approval.voided"]
        if not approved_first:
            assert "Withdrawn: task cancelled" in answer["detail"]
    assert wins[200] + wins[409] == ROUNDS
    assert min(wins.values()) > 0, f"not a race: {wins}"


def test_a04_16_workers_with_one_approval_use_it_once(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea)
    token = claim(request.task)
    start = threading.Barrier(16)

    def worker(_: int) -> tuple[bool, str]:
        try:
            start.wait(20)
            said = attempt(request.task_id, "clean", token, first=True)
            return said.admitted, said.call_state
        finally:
            connection.close()

    # Each thinks that its attempt is the first: the gate, not the count of attempts, must hold.
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(worker, range(16)))
    assert kinds(request.task_id).count("approval.consumed") == 1
    assert ApprovalRequest.objects.get(pk=request.pk).status == "consumed"
    assert sorted(answers) == [(False, "")] * 15 + [(True, "")]
    used = Event.objects.get(stream=request.task_id, kind="call.attempted")
    consumed = Event.objects.get(stream=request.task_id, kind="approval.consumed")
    assert consumed.seq + 1 == used.seq
    assert consumed.at == used.at
    assert used.at <= database_now()
